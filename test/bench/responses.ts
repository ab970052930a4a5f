/** The responses of the upstream. A request chooses one by its model, which passes through every gateway. */
export type ResponseName = "json" | "stream" | "slow" | "firehose" | "chat";

/** Events with timestamps, sent one at a time. */
export interface Pace {
  events: number;
  everyMs: number;
}

/** The usage in every response, which tollkeeper's records must match. */
export const USAGE = { input: 1_000, output: 500 };

const HEAD_LINES = [
  "HTTP/1.1 200 OK",
  "date: Sat, 21 Nov 2026 12:00:00 GMT",
  "server: bench",
  "request-id: req_011CSHoEeqs5C35K2UUqR7Fy",
  "anthropic-organization-id: 00000000-0000-4000-8000-000000000000",
  "anthropic-ratelimit-requests-limit: 4000",
  "anthropic-ratelimit-requests-remaining: 3999",
  "anthropic-ratelimit-requests-reset: 2026-11-21T12:00:00Z",
  "anthropic-ratelimit-tokens-limit: 400000",
  "anthropic-ratelimit-tokens-remaining: 399000",
  "anthropic-ratelimit-tokens-reset: 2026-11-21T12:00:00Z",
  "cache-control: no-cache",
  "via: 1.1 bench",
];
const JSON_BYTES = 554;
const STREAM_HEAD = headOf("content-type: text/event-stream; charset=utf-8", "transfer-encoding: chunked");
const STAMP_DIGITS = 20;
const FIREHOSE_EVENTS = 20_000;

/** The paced responses. The slow stream is as fast as a model writes. */
export const PACES: Record<"stream" | "slow", Pace> = {
  stream: { events: 50, everyMs: 10 },
  slow: { events: 30, everyMs: 100 },
};

/** The number of text events in a response; 0 when it is not a stream. */
export const EVENTS: Record<ResponseName, number> = {
  json: 0,
  stream: PACES.stream.events,
  slow: PACES.slow.events,
  firehose: FIREHOSE_EVENTS,
  chat: FIREHOSE_EVENTS,
};

const OPENING = [
  event({
    type: "message_start",
    message: {
      id: "msg_bench",
      type: "message",
      role: "assistant",
      model: "bench",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: USAGE.input, output_tokens: 1 },
    },
  }),
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
];
const CLOSING = [
  event({ type: "content_block_stop", index: 0 }),
  event({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: USAGE.output },
  }),
  event({ type: "message_stop" }),
];

/** The head and first events of a paced stream as bytes, with one HTTP chunk per event. */
export const STREAM_START = Buffer.from(STREAM_HEAD + OPENING.map(chunk).join(""));
/** The last events and the end of a paced stream. */
export const STREAM_END = Buffer.from(CLOSING.map(chunk).join("") + chunk(""));

/** Precedes an event's timestamp. */
export const STAMP_MARK = Buffer.from('"text":"@');
const EVENT_BYTES = stampedEvent(0n).length;

/** An event with the time at which it was sent, in nanoseconds of the machine's monotonic clock. */
function stampedEvent(now: bigint): string {
  const text = `@${String(now).padStart(STAMP_DIGITS, "0")}`;
  return event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
}

/** The next event of a paced stream as an HTTP chunk. */
export function stampedChunk(): string {
  return chunk(stampedEvent(process.hrtime.bigint()));
}

/** Reads the timestamp at `at`, in nanoseconds. NaN when it is incomplete. */
export function readStamp(bytes: Buffer, at: number): number {
  if (at + STAMP_DIGITS > bytes.length) return Number.NaN;
  return Number(bytes.toString("latin1", at, at + STAMP_DIGITS));
}

const JSON_BODY = jsonBody();
const FIREHOSE = [
  ...OPENING,
  ...Array.from({ length: FIREHOSE_EVENTS }, (_, n) => stampedEvent(BigInt(n))),
  ...CLOSING,
];

/** A Chat Completions stream, whose usage is in the last event. */
const CHAT = [
  ...Array.from({ length: FIREHOSE_EVENTS }, (_, n) => chatEvent({ content: `word ${n} ` })),
  chatEvent({}, { prompt_tokens: USAGE.input, completion_tokens: USAGE.output }),
  "data: [DONE]\n\n",
];

/** The bytes of the responses that are sent at once. */
export const COMPLETE_RESPONSES = {
  json: Buffer.from(headOf("content-type: application/json", `content-length: ${JSON_BYTES}`) + JSON_BODY),
  firehose: streamOf(FIREHOSE),
  chat: streamOf(CHAT),
};

/** The bodies that clients must receive. */
export const COMPLETE_BODIES = {
  json: Buffer.from(JSON_BODY),
  firehose: Buffer.from(FIREHOSE.join("")),
  chat: Buffer.from(CHAT.join("")),
};

/** True for a response whose bytes are always the same. */
export function isComplete(response: ResponseName): response is keyof typeof COMPLETE_RESPONSES {
  return response in COMPLETE_RESPONSES;
}

/** The length of the body that clients must receive. */
export const BODY_BYTES: Record<ResponseName, number> = {
  json: JSON_BYTES,
  firehose: COMPLETE_BODIES.firehose.length,
  chat: COMPLETE_BODIES.chat.length,
  stream: pacedBytes(PACES.stream),
  slow: pacedBytes(PACES.slow),
};

function pacedBytes({ events }: Pace): number {
  return [...OPENING, ...CLOSING].join("").length + events * EVENT_BYTES;
}

function headOf(...lines: string[]): string {
  return [...HEAD_LINES, ...lines, "", ""].join("\r\n");
}

/** The head and events of a stream that is sent at once, with one HTTP chunk per event. */
function streamOf(events: readonly string[]): Buffer {
  return Buffer.from(STREAM_HEAD + [...events, ""].map(chunk).join(""));
}

/** A Messages response, padded to the size of the measurements in docs/performance.md. */
function jsonBody(): string {
  return jsonMessage("x".repeat(JSON_BYTES - jsonMessage("").length));
}

function jsonMessage(text: string): string {
  return JSON.stringify({
    id: "msg_bench",
    type: "message",
    role: "assistant",
    model: "bench",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  });
}

function event(data: { type: string; [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function chatEvent(delta: object, usage: object | null = null): string {
  const choices = usage === null ? [{ index: 0, delta, finish_reason: null }] : [];
  const data = { id: "chatcmpl-bench", object: "chat.completion.chunk", model: "bench", choices, usage };
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Formats an HTTP chunk (RFC 9112 section 7.1). An empty one ends the body. */
function chunk(data: string): string {
  return `${data.length.toString(16)}\r\n${data}\r\n`;
}
