import { createHash } from "node:crypto";
import type { Outcome } from "../../src/core/usage/reading.ts";
import type { KnownTokens, ExpectedResponse } from "./observations.ts";
import { between, oneOf, type Random } from "./random.ts";

/** The routes that the clients use, below `/v1`. */
export type ChaosRoute = "/messages" | "/responses" | "/messages/count_tokens" | "/models";

/** What a response is made for. */
export interface ResponseSpec {
  nonce: string;
  route: ChaosRoute;
  isStream: boolean;
  random: Random;
  /** Length of the model's text. */
  textBytes: number;
  /** By default `chaos-model`. */
  model?: string;
}

/** A response and what must be recorded of it. */
export interface KnownResponse {
  contentType: string;
  /** In the order to send them, one event each. The first half does not tell how the response ends. */
  chunks: Buffer[];
  expected: ExpectedResponse;
}

const MODEL = "chaos-model";

export function digestOf(...chunks: readonly Buffer[]): string {
  const hash = createHash("sha1");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

/** Makes a valid response for the route, with an id made from the nonce and random token counts. */
export function createResponse(spec: ResponseSpec): KnownResponse {
  const { route } = spec;
  if (route === "/models") return withoutUsage({ object: "list", data: [{ id: MODEL, object: "model" }] });
  if (route === "/messages/count_tokens") return withoutUsage({ input_tokens: between(spec.random, 1, 999) });
  const tokens = drawTokens(spec);
  return route === "/messages" ? createMessage(spec, tokens) : createResponsesApiResponse(spec, tokens);
}

/** Makes an error response in the shape of the route's API. */
export function createErrorResponse(route: ChaosRoute, status: number, text: string): KnownResponse {
  const type = `chaos_error_${status}`;
  const isMessages = route.startsWith("/messages");
  const error = isMessages ? { type, message: text } : { type: "chaos", code: type, message: text };
  const response = bodyOf(isMessages ? { type: "error", error } : { error });
  return {
    ...response,
    expected: { ...expectNoUsage(route, status), errorType: type, digest: response.digest },
  };
}

/** What is expected of a response whose body has no usage. */
export function expectNoUsage(route: ChaosRoute, status: number): ExpectedResponse {
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

function drawTokens({ route, random }: ResponseSpec): KnownTokens {
  return {
    input_uncached: between(random, 1, 50_000),
    cache_read: between(random, 0, 50_000),
    cache_write: route === "/messages" ? between(random, 0, 5_000) : 0,
    output: between(random, 2, 9_000),
  };
}

function bodyOf(value: object): { contentType: string; chunks: Buffer[]; digest: string } {
  const body = Buffer.from(JSON.stringify(value));
  const quarter = Math.ceil(body.length / 4);
  const chunks = [0, 1, 2, 3].map((i) => body.subarray(i * quarter, (i + 1) * quarter));
  return { contentType: "application/json", chunks, digest: digestOf(body) };
}

function withoutUsage(value: object): KnownResponse {
  const { digest, ...response } = bodyOf(value);
  const expected: ExpectedResponse = { ...expectNoUsage("/models", 200), errorType: null, digest };
  return { ...response, expected };
}

function toKnownResponse(
  { nonce, route, isStream }: ResponseSpec,
  [value, events]: [object, object[]],
  { outcome, tokens }: { outcome: Outcome; tokens: KnownTokens },
): KnownResponse {
  const chunks = isStream ? events.map(formatEvent) : bodyOf(value).chunks;
  return {
    contentType: isStream ? "text/event-stream; charset=utf-8" : "application/json",
    chunks,
    expected: {
      status: 200,
      outcome,
      usage: "final",
      responseId: idOf(route, nonce),
      tokens,
      errorType: null,
      digest: digestOf(...chunks),
    },
  };
}

export function formatEvent(data: object): Buffer {
  const { type } = data as { type?: string };
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

function modelOf({ model = MODEL }: ResponseSpec): string {
  return model;
}

function idOf(route: ChaosRoute, nonce: string): string {
  return `${route === "/messages" ? "msg" : "resp"}_${nonce}`;
}

function loremIpsum(bytes: number): string {
  return "lorem ipsum dolor ".repeat(Math.ceil(bytes / 18)).slice(0, bytes);
}

/** Random text in 4 to 12 parts of equal length, except the last one. */
function splitText({ random, textBytes }: ResponseSpec): string[] {
  const count = between(random, 4, 12);
  const text = loremIpsum(textBytes);
  const length = Math.max(1, Math.ceil(text.length / count));
  return Array.from({ length: count }, (_, i) => text.slice(i * length, (i + 1) * length));
}

const STOPS: [stop: string, Outcome][] = [
  ["end_turn", "completed"],
  ["tool_use", "completed"],
  ["max_tokens", "incomplete"],
  ["refusal", "refused"],
];

function createMessage(spec: ResponseSpec, tokens: KnownTokens): KnownResponse {
  const [stop, outcome] = oneOf(spec.random, STOPS);
  const head = { id: idOf(spec.route, spec.nonce), type: "message", role: "assistant", model: modelOf(spec) };
  const input = {
    input_tokens: tokens.input_uncached,
    cache_read_input_tokens: tokens.cache_read,
    cache_creation_input_tokens: tokens.cache_write,
  };
  const usage = { ...input, output_tokens: tokens.output };
  const content = [{ type: "text", text: loremIpsum(spec.textBytes) }];
  const started = { ...head, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } };
  const events = [
    { type: "message_start", message: started },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...splitText(spec).map((text) => {
      return { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
    }),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: tokens.output } },
    { type: "message_stop" },
  ];
  return toKnownResponse(spec, [{ ...head, content, stop_reason: stop, usage }, events], {
    outcome,
    tokens,
  });
}

function createResponsesApiResponse(spec: ResponseSpec, tokens: KnownTokens): KnownResponse {
  const status = oneOf(spec.random, ["completed", "incomplete"] as const);
  const head = { id: idOf(spec.route, spec.nonce), object: "response", model: modelOf(spec) };
  const input = tokens.input_uncached + tokens.cache_read;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: tokens.cache_read },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: input + tokens.output,
  };
  const output = [{ type: "message", content: [{ type: "output_text", text: loremIpsum(spec.textBytes) }] }];
  const complete = { ...head, status, output, usage };
  const events = [
    { type: "response.created", response: { ...head, status: "in_progress", output: [], usage: null } },
    ...splitText(spec).map((delta) => ({ type: "response.output_text.delta", delta })),
    { type: `response.${status}`, response: complete },
  ];
  return toKnownResponse(spec, [complete, events], { outcome: status, tokens });
}
