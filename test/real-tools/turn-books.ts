import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";
import { describeTools } from "./offer.ts";
import { listenOnLoopback } from "../helpers/upstream/loopback-port.ts";
import { usageOf } from "../helpers/upstream/websocket-upstream.ts";

/** One response of the upstream. */
export interface BookedTurn {
  id: string;
  transport: "websocket" | "post";
  isWarmup: boolean;
  /** Whether it made one encrypted item of the conversation. */
  isCompaction: boolean;
  /** How often the service searched the web for it. */
  searches: number;
  input: number;
  output: number;
}

/** A request, as far as the upstream looks at it. */
interface Asked {
  model?: string;
  generate?: boolean;
  input?: string | { type?: string }[];
  tools?: { name?: string; type?: string }[];
}

/** An upstream of the Responses API that keeps books. */
export interface BookkeepingUpstream {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  turns: BookedTurn[];
  /** Bytes that came on all connections that have ended, heads included. */
  bytes(): number;
  handshakes: IncomingMessage[];
  /** Searches that a program asked for by a request of its own, `POST /alpha/search`. */
  searches: string[];
  /** The tools that each request offered. */
  tools: string[][];
}

/** So many tokens more has each response's input, until a compaction. */
const INPUT_STEP = 20_000;

/** A limit at which Codex compacts the conversation about once in ten calls. */
export const COMPACTION_LIMIT = 6 * INPUT_STEP;

/**
 * Starts an upstream that has so many commands run, one a response, or so often `code` in Codex's tool for code, and then says `done`, for which it searches the web where that
 * is offered. It has the WebSocket mode, and compacts the conversation when it is asked to. Ends with the test.
 */
export async function startBookkeepingUpstream(
  t: TestContext,
  { calls = 0, code = null }: { calls?: number; code?: string | null } = {},
): Promise<BookkeepingUpstream> {
  const turns: BookedTurn[] = [];
  const tools: string[][] = [];
  const handshakes: IncomingMessage[] = [];
  let bytes = 0;
  let made = 0;
  let sinceCompaction = 0;
  const answer = (asked: Asked, transport: BookedTurn["transport"]): object[] => {
    const isWarmup = asked.generate === false;
    const isCompaction =
      Array.isArray(asked.input) && asked.input.some(({ type }) => type === "compaction_trigger");
    const number = turns.length + 1;
    const calling = !isWarmup && !isCompaction && made < calls;
    if (calling) made += 1;
    const isSearching =
      !isWarmup &&
      !isCompaction &&
      !calling &&
      asked.tools?.some(({ type }) => type === "web_search") === true;
    sinceCompaction += 1;
    const turn = {
      id: `resp_${number}`,
      transport,
      isWarmup,
      isCompaction,
      searches: isSearching ? 1 : 0,
      input: INPUT_STEP * sinceCompaction + number,
      output: isWarmup ? 0 : number,
    };
    if (isCompaction) sinceCompaction = 0;
    turns.push(turn);
    tools.push(describeTools({ ...asked }));
    if (isWarmup) return eventsOf(turn, asked, []);
    if (isCompaction) return eventsOf(turn, asked, [compactionItem(number)]);
    if (calling) return eventsOf(turn, asked, [callItem(number, code)]);
    return eventsOf(turn, asked, [...(isSearching ? [searchItem(number)] : []), messageItem(number)]);
  };
  const searches: string[] = [];
  const http = createServer((req, res) => {
    if (req.method === "POST" && req.url === "/v1/alpha/search") void search(req, res, searches);
    else void respond(req, res, (asked) => answer(asked, "post"));
  });
  http.on("connection", (socket) => socket.once("close", () => (bytes += socket.bytesRead)));
  const server = new WebSocketServer({ server: http, path: "/v1/responses", perMessageDeflate: true });
  server.on("connection", (socket, request) => {
    handshakes.push(request);
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => {
      for (const event of answer(JSON.parse(data.toString()) as Asked, "websocket"))
        socket.send(JSON.stringify(event));
    });
  });
  const port = await listenOnLoopback(http);
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    http.closeAllConnections();
    http.close();
  });
  return { baseUrl: `http://127.0.0.1:${port}/v1`, turns, bytes: () => bytes, handshakes, searches, tools };
}

/** Its response has no usage (docs/wire.md section 4). */
async function search(req: IncomingMessage, res: ServerResponse, searches: string[]): Promise<void> {
  searches.push(await text(req));
  const found = { output: "Tolls are paid.", encrypted_output: "x", results: [] };
  res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
}

async function respond(
  req: IncomingMessage,
  res: ServerResponse,
  answer: (asked: Asked) => object[],
): Promise<void> {
  if (req.method !== "POST" || !(req.url ?? "").startsWith("/v1/responses")) {
    res.writeHead(404, { "content-type": "application/json" }).end("{}");
    return;
  }
  const events = answer(JSON.parse(await text(req)) as Asked);
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events)
    res.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
  res.end();
}

function messageItem(number: number): object {
  const content = [{ type: "output_text", text: "done", annotations: [], logprobs: [] }];
  return { type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content };
}

function searchItem(number: number): object {
  const action = { type: "search", query: "tolls" };
  return { type: "web_search_call", id: `ws_${number}`, status: "completed", action };
}

function compactionItem(number: number): object {
  return { type: "compaction", id: `cmp_${number}`, encrypted_content: "x".repeat(10_000) };
}

function callItem(number: number, code: string | null): object {
  const call = { call_id: `call_${number}`, status: "completed" };
  if (code !== null)
    return { type: "custom_tool_call", id: `ctc_${number}`, ...call, name: "exec", input: code };
  const command = JSON.stringify({ cmd: "echo hello" });
  return { type: "function_call", id: `fc_${number}`, ...call, name: "exec_command", arguments: command };
}

function eventsOf({ id, input, output }: BookedTurn, { model }: Asked, items: readonly object[]): object[] {
  const response = {
    id,
    object: "response",
    created_at: 1_700_000_000,
    model,
    status: "in_progress",
    output: [],
  };
  const usage = usageOf(input, output);
  const events = [
    { type: "response.created", response },
    ...items.flatMap(itemEvents),
    { type: "response.completed", response: { ...response, status: "completed", output: items, usage } },
  ];
  return events.map((event, at) => ({ ...event, sequence_number: at }));
}

function itemEvents(item: object, index: number): object[] {
  const { id, type } = item as { id: string; type: string };
  const done = { type: "response.output_item.done", output_index: index, item };
  if (type !== "message") return [{ type: "response.output_item.added", output_index: index, item }, done];
  const place = { item_id: id, output_index: index, content_index: 0 };
  const part = { type: "output_text", text: "", annotations: [] };
  return [
    { type: "response.output_item.added", output_index: index, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...place, part },
    { type: "response.output_text.delta", ...place, delta: "done", logprobs: [] },
    done,
  ];
}
