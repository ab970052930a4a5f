import * as fc from "fast-check";
import { MESSAGE, MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";
import { damages, applyDamage } from "./damage.ts";
import { chunking, type Chunking } from "./chunking.ts";
import { randomBody } from "./random-body.ts";

/** Bytes to send in chunks, and what the sender then does with the connection. */
export interface Transmission {
  bytes: Buffer;
  chunks: Chunking;
  ending: "stay" | "end" | "destroy" | "reset";
}

/** Stands for the gate's own address in a request. */
export const AUTHORITY = "GATE:PORT";

/** Request lines, most of which have a route. */
const LINES = [
  "POST /v1/messages",
  "POST /v1/messages",
  "POST /t/zed/v1/responses",
  "POST /v1/messages/count_tokens",
  "GET /v1/models",
  "GET /v1/messages",
  "HEAD /",
  "POST /nowhere",
  "OPTIONS /v1/messages",
].map((line) => `${line} HTTP/1.1`);

const STATUSES = [
  "200 OK",
  "200 OK",
  "200 OK",
  "429 Too Many",
  "302 Found",
  "204 No",
  "101 Switch",
  "999 odd",
];

/** Usually none of the header lines, sometimes one. */
function rarely(...fields: string[]): fc.Arbitrary<string[]> {
  return fc.oneof(
    { weight: 2 * fields.length, arbitrary: fc.constant<string[]>([]) },
    fc.constantFrom(...fields).map((one) => [one]),
  );
}

const request = message(
  fc.constantFrom(...LINES),
  [`Host: ${AUTHORITY}`, "Content-Type: application/json"],
  rarely("Connection: close", "Expect: 100-continue", "Upgrade: websocket", "Content-Encoding: zstd"),
  fc.oneof(
    randomBody,
    fc.constantFrom('{"model":"m","stream":true}', "x".repeat(400_000)).map((text) => Buffer.from(text)),
  ),
);

const response = fc.constantFrom("application/json", "text/event-stream", "text/html").chain((type) =>
  message(
    fc.constantFrom(...STATUSES).map((status) => `HTTP/1.1 ${status}`),
    [`Content-Type: ${type}`],
    rarely(
      "Connection: close",
      "Content-Encoding: gzip",
      "Content-Encoding: br",
      "X-Y: \u0001",
      "Keep-Alive: timeout=0",
    ),
    fc.oneof(
      fc.constantFrom(JSON.stringify(MESSAGE), MESSAGE_EVENTS.join("")).map((text) => Buffer.from(text)),
      randomBody,
    ),
  ),
);

/** A request or response as bytes, usually framed correctly. */
function message(
  start: fc.Arbitrary<string>,
  fixed: string[],
  more: fc.Arbitrary<string[]>,
  body: fc.Arbitrary<Buffer>,
): fc.Arbitrary<Buffer> {
  const framings = fc.constantFrom(
    "length",
    "length",
    "length",
    "chunked",
    "chunked",
    "none",
    "short",
    "long",
  );
  return fc.tuple(start, more, body, framings).map(([first, some, bytes, framing]) => {
    const [fields, framed] = frame(bytes, framing);
    const head = [first, ...fixed, ...some, ...fields].join("\r\n");
    return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), framed]);
  });
}

/** Frames a body, correctly or not: returns the header lines and the framed body. */
function frame(body: Buffer, framing: string): [fields: string[], framed: Buffer] {
  if (framing === "chunked") {
    const size = Buffer.from(`${body.length.toString(16)}\r\n`);
    const chunk = body.length === 0 ? [] : [size, body, Buffer.from("\r\n")];
    return [["Transfer-Encoding: chunked"], Buffer.concat([...chunk, Buffer.from("0\r\n\r\n")])];
  }
  const off = { short: -3, long: 3 }[framing] ?? 0;
  return [framing === "none" ? [] : [`Content-Length: ${Math.max(0, body.length + off)}`], body];
}

/** Sends the message, a quarter of the time damaged. */
function transmission(intended: fc.Arbitrary<Buffer>): fc.Arbitrary<Transmission> {
  return fc.record({
    bytes: fc
      .tuple(intended, damages, fc.nat(3))
      .map(([bytes, damage, luck]) => (luck === 0 ? applyDamage(bytes, damage, bytes) : bytes)),
    chunks: chunking.map((chunks) => ({ ...chunks, maxBytes: chunks.maxBytes * 100 })),
    ending: fc.constantFrom("stay", "stay", "stay", "end", "destroy", "reset"),
  });
}

/** What clients and an upstream send to a gate: the requests of each client in order, and responses that are taken in turn. */
export interface Conversation {
  clients: Transmission[][];
  responses: Transmission[];
}

export const conversation: fc.Arbitrary<Conversation> = fc.record({
  clients: fc.array(fc.array(transmission(request), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  }),
  responses: fc.array(transmission(response), { minLength: 1, maxLength: 4 }),
});
