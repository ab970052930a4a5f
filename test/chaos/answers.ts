import { createHash } from "node:crypto";
import type { Outcome } from "../../src/core/usage/reading.ts";
import type { KnownTokens, Truth } from "./books.ts";
import { between, oneOf, type Random } from "./random.ts";

/** The routes that the chaos takes, below `/v1`. */
export type ChaosRoute = "/messages" | "/responses" | "/messages/count_tokens" | "/models";

/** What an answer is made for. */
export interface AnswerOrder {
  nonce: string;
  route: ChaosRoute;
  isStream: boolean;
  random: Random;
  /** Length of the model's words. */
  textBytes: number;
}

/** An answer with everything known of it. */
export interface KnownAnswer {
  contentType: string;
  /** In the order to send them; events one by one. The first half does not say how the answer ends. */
  pieces: Buffer[];
  truth: Truth;
}

const MODEL = "chaos-model";

export function digestOf(...pieces: readonly Buffer[]): string {
  const hash = createHash("sha1");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

/** A good answer for the route, with a response id made of the nonce and token counts of its own. */
export function createAnswer(order: AnswerOrder): KnownAnswer {
  const { route } = order;
  if (route === "/models") return withoutUsage({ object: "list", data: [{ id: MODEL, object: "model" }] });
  if (route === "/messages/count_tokens")
    return withoutUsage({ input_tokens: between(order.random, 1, 999) });
  const tokens = drawTokens(order);
  return route === "/messages" ? message(order, tokens) : response(order, tokens);
}

/** An error in the shape of the route's API. */
export function createError(route: ChaosRoute, status: number, text: string): KnownAnswer {
  const type = `chaos_error_${status}`;
  const isMessages = route.startsWith("/messages");
  const error = isMessages ? { type, message: text } : { type: "chaos", code: type, message: text };
  const answer = bodyOf(isMessages ? { type: "error", error } : { error });
  return { ...answer, truth: { ...fruitless(route, status), errorType: type, digest: answer.digest } };
}

/** What an answer of 300 and above comes to, whose body tells nothing. */
export function fruitless(route: ChaosRoute, status: number): Truth {
  const hasUsage = route === "/messages" || route === "/responses";
  return {
    status,
    outcome: status < 300 ? "completed" : "error",
    usage: hasUsage ? "absent" : "none",
    responseId: null,
    tokens: null,
    errorType: undefined,
    digest: digestOf(),
  };
}

function drawTokens({ route, random }: AnswerOrder): KnownTokens {
  return {
    input_uncached: between(random, 1, 50_000),
    cache_read: between(random, 0, 50_000),
    cache_write: route === "/messages" ? between(random, 0, 5_000) : 0,
    output: between(random, 2, 9_000),
  };
}

function bodyOf(value: object): { contentType: string; pieces: Buffer[]; digest: string } {
  const body = Buffer.from(JSON.stringify(value));
  const quarter = Math.ceil(body.length / 4);
  const pieces = [0, 1, 2, 3].map((i) => body.subarray(i * quarter, (i + 1) * quarter));
  return { contentType: "application/json", pieces, digest: digestOf(body) };
}

function withoutUsage(value: object): KnownAnswer {
  const { digest, ...answer } = bodyOf(value);
  const truth: Truth = { ...fruitless("/models", 200), errorType: null, digest };
  return { ...answer, truth };
}

function known(
  { nonce, route, isStream }: AnswerOrder,
  [value, events]: [object, object[]],
  { outcome, tokens }: { outcome: Outcome; tokens: KnownTokens },
): KnownAnswer {
  const pieces = isStream ? events.map(eventOf) : bodyOf(value).pieces;
  return {
    contentType: isStream ? "text/event-stream; charset=utf-8" : "application/json",
    pieces,
    truth: {
      status: 200,
      outcome,
      usage: "final",
      responseId: idOf(route, nonce),
      tokens,
      errorType: null,
      digest: digestOf(...pieces),
    },
  };
}

export function eventOf(data: object): Buffer {
  const { type } = data as { type?: string };
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

function idOf(route: ChaosRoute, nonce: string): string {
  return `${route === "/messages" ? "msg" : "resp"}_${nonce}`;
}

function words(bytes: number): string {
  return "lorem ipsum dolor ".repeat(Math.ceil(bytes / 18)).slice(0, bytes);
}

/** The text as 4 to 12 pieces, all but the last of one length. */
function deltas({ random, textBytes }: AnswerOrder): string[] {
  const count = between(random, 4, 12);
  const text = words(textBytes);
  const length = Math.max(1, Math.ceil(text.length / count));
  return Array.from({ length: count }, (_, i) => text.slice(i * length, (i + 1) * length));
}

const STOPS: [stop: string, Outcome][] = [
  ["end_turn", "completed"],
  ["tool_use", "completed"],
  ["max_tokens", "incomplete"],
  ["refusal", "refused"],
];

function message(order: AnswerOrder, tokens: KnownTokens): KnownAnswer {
  const [stop, outcome] = oneOf(order.random, STOPS);
  const head = { id: idOf(order.route, order.nonce), type: "message", role: "assistant", model: MODEL };
  const input = {
    input_tokens: tokens.input_uncached,
    cache_read_input_tokens: tokens.cache_read,
    cache_creation_input_tokens: tokens.cache_write,
  };
  const usage = { ...input, output_tokens: tokens.output };
  const content = [{ type: "text", text: words(order.textBytes) }];
  const started = { ...head, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } };
  const events = [
    { type: "message_start", message: started },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...deltas(order).map((text) => {
      return { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
    }),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: tokens.output } },
    { type: "message_stop" },
  ];
  return known(order, [{ ...head, content, stop_reason: stop, usage }, events], { outcome, tokens });
}

function response(order: AnswerOrder, tokens: KnownTokens): KnownAnswer {
  const status = oneOf(order.random, ["completed", "incomplete"] as const);
  const head = { id: idOf(order.route, order.nonce), object: "response", model: MODEL };
  const input = tokens.input_uncached + tokens.cache_read;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: tokens.cache_read },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: input + tokens.output,
  };
  const output = [{ type: "message", content: [{ type: "output_text", text: words(order.textBytes) }] }];
  const whole = { ...head, status, output, usage };
  const events = [
    { type: "response.created", response: { ...head, status: "in_progress", output: [], usage: null } },
    ...deltas(order).map((delta) => ({ type: "response.output_text.delta", delta })),
    { type: `response.${status}`, response: whole },
  ];
  return known(order, [whole, events], { outcome: status, tokens });
}
