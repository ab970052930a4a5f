import { constants, gzipSync } from "node:zlib";
import type { Outcome, UsageState } from "../../src/core/usage/reading.ts";
import { MESSAGE, MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";

/** The beginning of an answer's body (latin1), and what the record must say of it. */
export interface BrokenBody {
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

/** A stream has said its input by then; JSON that is not whole says nothing. */
const TOLD = { usage: "partial", input: 3 } as const;
const UNTOLD = { usage: "absent", input: undefined } as const;

export const BROKEN_BODIES: readonly BrokenBody[] = [
  { kind: "stream", head: STREAM_HEAD, body: EVENT, ...TOLD },
  { kind: "JSON answer", head: JSON_HEAD, body: HALF_JSON, ...UNTOLD },
  { kind: "stream in gzip", head: STREAM_HEAD + GZIP, body: beginGzip(EVENT), ...TOLD },
  { kind: "JSON answer in gzip", head: JSON_HEAD + GZIP, body: beginGzip(HALF_JSON), ...UNTOLD },
];

/** Compressed as far as it goes, without an end. */
function beginGzip(text: string): string {
  return gzipSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).toString("latin1");
}

/** Matches the text (latin1) as it is. */
export function exactly(text: string): RegExp {
  return new RegExp(
    text.replaceAll(/[^]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, "0")}`),
  );
}

export const hexLength = (body: string) => body.length.toString(16);

/** Framings, each broken off. Where the end of the connection is the end of the body, the answer itself tells that it is none. */
export const CUTS: readonly [what: string, field: string, frame: (body: string) => string][] = [
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

/** An answer without length or chunks whose connection ends, cleanly, before it does. */
interface Unframed {
  kind: string;
  path: string;
  /** Status and header lines. */
  head: string;
  body: string;
  /** Outcome, who cut it, usage. */
  record: [Outcome, "upstream" | null, UsageState];
}

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
    kind: "a stream that has all but its last event",
    path: "/v1/messages",
    head: `200 OK\r\n${STREAM_HEAD}`,
    body: MESSAGE_EVENTS.slice(0, -1).join(""),
    record: ["completed", null, "final"],
  },
  {
    kind: "a stream of responses",
    path: "/v1/responses",
    head: `200 OK\r\n${STREAM_HEAD}`,
    body: CREATED,
    record: ["cut", "upstream", "absent"],
  },
];
