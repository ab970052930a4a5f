import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { PromptCache, sizeOf, type CachedPart } from "./prompt-cache.ts";
import { SSE, startUpstream, type ScriptedUpstream, type SeenRequest } from "./scripted-upstream.ts";

/** What the service bills for one response. */
export interface BookedMessage {
  id: string;
  seen: SeenRequest;
  model: string;
  read: number;
  written: number;
  uncached: number;
  output: number;
}

/** A request, as far as the service looks at it. */
export interface MessagesRequest {
  model: string;
  stream?: boolean;
  system?: unknown;
  tools?: { name: string }[];
  tool_choice?: unknown;
  thinking?: unknown;
  messages: { role: string; content: unknown }[];
  diagnostics?: { previous_message_id?: string | null };
}

/** What the model says: texts and calls of tools. */
export type Said = readonly (string | { name: string; input: object })[];

/** An upstream of the Messages API that has a cache and keeps books. */
export interface CachingMessages extends ScriptedUpstream {
  books: BookedMessage[];
  cache: PromptCache;
}

/** What the service knows of why a request missed what an earlier one had written. */
export interface SaidMiss {
  type: string;
  cache_missed_input_tokens: number;
}

interface Options {
  /** Returns what the model says to a request. */
  say?(asked: MessagesRequest, seen: SeenRequest): Said | Promise<Said>;
  /** Returns what the service says of a miss, where the client has asked for it. */
  diagnose?(asked: MessagesRequest, booked: BookedMessage): SaidMiss | null;
}

/**
 * Starts a Messages API with a cache as the documentation describes it: what a mark covers is written, and the longest part
 * that was written before is read. It ends with the test.
 */
export async function startCachingMessages(
  t: TestContext,
  { say = () => ["done"], diagnose = () => null }: Options = {},
): Promise<CachingMessages> {
  const books: BookedMessage[] = [];
  const cache = new PromptCache();
  const respond = async (seen: SeenRequest, res: ServerResponse) => {
    if (seen.method !== "POST" || !/\/messages(?:\?|$)/.test(seen.url)) return sendJson(res, 404, NOT_FOUND);
    const asked = JSON.parse(seen.body.toString()) as MessagesRequest;
    const { parts, marked } = partsOf(asked);
    const said = await say(asked, seen);
    const used = cache.use(parts, marked);
    const booked = { id: `msg_${books.length + 1}`, seen, model: asked.model, ...used, output: sizeOf(said) };
    books.push(booked);
    const reason = asked.diagnostics === undefined ? null : diagnose(asked, booked);
    sendMessage(res, booked, said, asked, reason);
  };
  const upstream = await startUpstream(t, (seen, res) => void respond(seen, res));
  return Object.assign(upstream, { books, cache });
}

const NOT_FOUND = { type: "error", error: { type: "not_found_error", message: "there is no such path" } };

/** Returns the parts of a prompt in their order, and how many of them the last mark covers. */
function partsOf(asked: MessagesRequest): { parts: CachedPart[]; marked: number } {
  const { model, tools = [], system = "", tool_choice: choice = null, thinking = null, messages } = asked;
  const values: unknown[] = [[model, tools], system, ...messages.map(({ role, content }) => [role, content])];
  // A change of these leaves the entries of tools and system prompt as they are.
  const settings = JSON.stringify([choice, thinking]);
  const parts = values.map((value, at) => {
    const text = JSON.stringify(withoutMarks(value));
    return { key: at < 2 ? text : settings + text, tokens: sizeOf(text) };
  });
  return { parts, marked: values.findLastIndex((value) => JSON.stringify(value).includes(MARK)) + 1 };
}

const MARK = '"cache_control"';

/** A text is the same as a list of one block of text. */
function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (typeof value !== "object" || value === null) return value;
  const { cache_control: _mark, ...rest } = value as Record<string, unknown>;
  return rest;
}

function sendMessage(
  res: ServerResponse,
  booked: BookedMessage,
  said: Said,
  { stream }: MessagesRequest,
  reason: SaidMiss | null,
): void {
  const usage = {
    input_tokens: booked.uncached,
    cache_read_input_tokens: booked.read,
    cache_creation_input_tokens: booked.written,
    cache_creation: { ephemeral_5m_input_tokens: booked.written, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
  };
  const message = {
    id: booked.id,
    type: "message",
    role: "assistant",
    model: booked.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
    ...(reason !== null && { diagnostics: { cache_miss_reason: reason } }),
  };
  const blocks = said.map((one, at) =>
    typeof one === "string"
      ? { type: "text", text: one }
      : { type: "tool_use", id: `toolu_${booked.id}_${at}`, ...one },
  );
  const stop = { stop_reason: blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn" };
  if (stream !== true)
    return sendJson(res, 200, {
      ...message,
      ...stop,
      content: blocks,
      usage: { ...usage, output_tokens: booked.output },
    });
  res.writeHead(200, SSE);
  for (const event of [
    { type: "message_start", message },
    ...blocks.flatMap(blockEvents),
    {
      type: "message_delta",
      delta: { ...stop, stop_sequence: null },
      usage: { output_tokens: booked.output },
    },
    { type: "message_stop" },
  ])
    res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  res.end();
}

function blockEvents(block: { type: string; text?: string; input?: object }, index: number) {
  const isText = block.text !== undefined;
  const delta = isText
    ? { type: "text_delta", text: block.text }
    : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  const start = isText ? { ...block, text: "" } : { ...block, input: {} };
  return [
    { type: "content_block_start", index, content_block: start },
    { type: "content_block_delta", index, delta },
    { type: "content_block_stop", index },
  ];
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
