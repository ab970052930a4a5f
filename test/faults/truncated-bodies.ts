import { constants, gzipSync } from "node:zlib";
import type { Outcome, UsageState } from "../../src/core/usage/reading.ts";
import { MESSAGE, MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";

/** The beginning of a response body (latin1), and what its record must contain. */
export interface TruncatedBody {
  kind: string;
  /** Header lines, each with its line end. */
  head: string;
  body: string;
  usage: UsageState;
  input: number | undefined;
}

export const STREAM_HEAD = "content-type: text/event-stream\r\n";
const JSON_HEAD = "content-type: application/json\r\n";
const GZIP = "content-encoding: gzip\r\n";

const [EVENT] = MESSAGE_EVENTS;
const HALF_JSON = JSON.stringify(MESSAGE).split(`,"content"`)[0] ?? "";

/** The beginning of a stream has the input tokens. Incomplete JSON has no usage. */
const WITH_USAGE = { usage: "partial", input: 3 } as const;
const WITHOUT_USAGE = { usage: "absent", input: undefined } as const;

export const TRUNCATED_BODIES: readonly TruncatedBody[] = [
  { kind: "stream", head: STREAM_HEAD, body: EVENT, ...WITH_USAGE },
  { kind: "JSON response", head: JSON_HEAD, body: HALF_JSON, ...WITHOUT_USAGE },
  { kind: "stream in gzip", head: STREAM_HEAD + GZIP, body: beginGzip(EVENT), ...WITH_USAGE },
  { kind: "JSON response in gzip", head: JSON_HEAD + GZIP, body: beginGzip(HALF_JSON), ...WITHOUT_USAGE },
];

/** Compresses a text without ending the gzip stream. */
function beginGzip(text: string): string {
  return gzipSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).toString("latin1");
}

/** Returns a pattern that matches the text (latin1) literally. */
export function exactly(text: string): RegExp {
  return new RegExp(
    text.replaceAll(/[^]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, "0")}`),
  );
}

export const hexLength = (body: string) => body.length.toString(16);

/** Ways to truncate a body in each framing. Without a length, only the content shows that it is incomplete. */
export const TRUNCATIONS: readonly [what: string, field: string, frame: (body: string) => string][] = [
  ["short of its length", "content-length: 500\r\n", (body) => body],
  ["without a last chunk", "transfer-encoding: chunked\r\n", (body) => `${hexLength(body)}\r\n${body}\r\n`],
  ["within a chunk", "transfer-encoding: chunked\r\n", (body) => `fff\r\n${body}`],
  [
    "within its last chunk",
    "transfer-encoding: chunked\r\n",
    (body) => `${hexLength(body)}\r\n${body}\r\n0\r\n`,
  ],
  ["without a length", "", (body) => body],
];

/** A response without length or chunks whose connection ends cleanly before the body is complete. */
interface Unframed {
  kind: string;
  path: string;
  /** Status and header lines. */
  head: string;
  body: string;
  /** Outcome, who cut it, usage. */
  record: [Outcome, "upstream" | null, UsageState];
}

/** Content that nothing but its length could show to be whole. */
export const MP3_HEAD = "content-type: audio/mpeg\r\n";
export const MP3 = "ID3\x04\0\0\0\0\0\0\xff\xfb\x90d half of a song";

const CREATED = `event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}\n\n`;

export const UNFRAMED: readonly Unframed[] = [
  {
    kind: "an error",
    path: "/v1/messages",
    head: `400 Bad Request\r\n${JSON_HEAD}`,
    body: `{"type":"error","error":{"type":"overl`,
    record: ["error", null, "absent"],
  },
  {
    kind: "a list of models",
    path: "/v1/models",
    head: `200 OK\r\n${JSON_HEAD}`,
    body: `{"data":[{"id":"a"},{"i`,
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "a count of tokens",
    path: "/v1/messages/count_tokens",
    head: `200 OK\r\n${JSON_HEAD}`,
    body: `{"input_tokens":12`,
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "a stream without its last event",
    path: "/v1/messages",
    head: `200 OK\r\n${STREAM_HEAD}`,
    body: MESSAGE_EVENTS.slice(0, -1).join(""),
    record: ["completed", null, "final"],
  },
  {
    kind: "a Responses stream",
    path: "/v1/responses",
    head: `200 OK\r\n${STREAM_HEAD}`,
    body: CREATED,
    record: ["cut", "upstream", "absent"],
  },
  {
    kind: "a Messages stream without an event",
    path: "/v1/messages",
    head: `200 OK\r\n${STREAM_HEAD}`,
    body: "",
    record: ["cut", "upstream", "absent"],
  },
  {
    kind: "JSON without a byte",
    path: "/v1/models",
    head: `200 OK\r\n${JSON_HEAD}`,
    body: "",
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "JSON that is not valid",
    path: "/v1/models",
    head: `200 OK\r\n${JSON_HEAD}`,
    body: `{"data":poison}`,
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "JSON of nothing but space",
    path: "/v1/models",
    head: `200 OK\r\n${JSON_HEAD}`,
    body: "\n\n  ",
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "an error without a byte of its JSON",
    path: "/v1/messages",
    head: `503 Service Unavailable\r\n${JSON_HEAD}`,
    body: "",
    record: ["error", null, "absent"],
  },
  {
    kind: "JSON that is called text",
    path: "/v1/models",
    head: "200 OK\r\ncontent-type: text/plain\r\n",
    body: `{"data":[{"id":"a"},{"i`,
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "JSON without a type",
    path: "/v1/models",
    head: "200 OK\r\nserver: x\r\n",
    body: `[{"id":"a"},{"i`,
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "JSON in gzip",
    path: "/v1/models",
    head: `200 OK\r\n${JSON_HEAD}${GZIP}`,
    body: beginGzip(`{"data":[{"id":"a"},{"i`),
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "text without a byte",
    path: "/v1/models",
    head: "200 OK\r\ncontent-type: text/plain\r\n",
    body: "",
    record: ["cut", "upstream", "none"],
  },
  {
    kind: "an mp3 without a byte",
    path: "/v1/models",
    head: `200 OK\r\n${MP3_HEAD}`,
    body: "",
    record: ["cut", "upstream", "none"],
  },
];

/** Responses without framing of which nobody can say whether they are whole. */
export const UNPROVABLE: readonly Omit<Unframed, "record">[] = [
  { kind: "an mp3", path: "/v1/models", head: `200 OK\r\n${MP3_HEAD}`, body: MP3 },
  {
    kind: "text",
    path: "/v1/models",
    head: "200 OK\r\ncontent-type: text/plain\r\n",
    body: "the first half of a sen",
  },
  { kind: "a page", path: "/v1/messages", head: "200 OK\r\ncontent-type: text/html\r\n", body: "<html><bo" },
  { kind: "content without a type", path: "/v1/models", head: "200 OK\r\nserver: x\r\n", body: MP3 },
  {
    kind: "content in an unknown coding",
    path: "/v1/messages",
    head: `200 OK\r\n${JSON_HEAD}content-encoding: x-unknown\r\n`,
    body: MP3,
  },
  {
    kind: "a stream of an API without a last event",
    path: "/v1/models",
    head: `200 OK\r\n${STREAM_HEAD}`,
    body: `data: {"n":1}\n\n`,
  },
  {
    kind: "a Chat Completions stream that has finished",
    path: "/v1/chat/completions",
    head: `200 OK\r\n${STREAM_HEAD}`,
    body: `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
  },
  {
    kind: "an error in plain text",
    path: "/v1/messages",
    head: "502 Bad Gateway\r\ncontent-type: text/plain\r\n",
    body: "upstream connect error or disconnect/reset before head",
  },
];
