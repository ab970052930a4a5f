import * as fc from "fast-check";
import { MESSAGE, MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";
import { damages, inflict } from "./damage.ts";
import { piecing, type Piecing } from "./pieces.ts";
import { soup } from "./soup.ts";

/** Bytes to be sent in pieces, and how the sender then leaves the connection. */
export interface Part {
  bytes: Buffer;
  pieces: Piecing;
  ending: "stay" | "end" | "destroy" | "reset";
}

/** Stands in a request where the gate's own address belongs. */
export const AUTHORITY = "GATE:PORT";

/** Those that have a route, and some that do not. */
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

/** Nothing, most of the time, or one of these. */
function seldom(...fields: string[]): fc.Arbitrary<string[]> {
  return fc.oneof(
    { weight: 2 * fields.length, arbitrary: fc.constant<string[]>([]) },
    fc.constantFrom(...fields).map((one) => [one]),
  );
}

const request = message(
  fc.constantFrom(...LINES),
  [`Host: ${AUTHORITY}`, "Content-Type: application/json"],
  seldom("Connection: close", "Expect: 100-continue", "Upgrade: websocket", "Content-Encoding: zstd"),
  fc.oneof(
    soup,
    fc.constantFrom('{"model":"m","stream":true}', "x".repeat(400_000)).map((text) => Buffer.from(text)),
  ),
);

const answer = fc.constantFrom("application/json", "text/event-stream", "text/html").chain((type) =>
  message(
    fc.constantFrom(...STATUSES).map((status) => `HTTP/1.1 ${status}`),
    [`Content-Type: ${type}`],
    seldom(
      "Connection: close",
      "Content-Encoding: gzip",
      "Content-Encoding: br",
      "X-Y: \u0001",
      "Keep-Alive: timeout=0",
    ),
    fc.oneof(
      fc.constantFrom(JSON.stringify(MESSAGE), MESSAGE_EVENTS.join("")).map((text) => Buffer.from(text)),
      soup,
    ),
  ),
);

/** A request or an answer as it stands on the wire, its body framed rightly as a rule. */
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

/** Header lines that frame the body, rightly or not, and the body as it then stands on the wire. */
function frame(body: Buffer, framing: string): [fields: string[], framed: Buffer] {
  if (framing === "chunked") {
    const size = Buffer.from(`${body.length.toString(16)}\r\n`);
    const chunk = body.length === 0 ? [] : [size, body, Buffer.from("\r\n")];
    return [["Transfer-Encoding: chunked"], Buffer.concat([...chunk, Buffer.from("0\r\n\r\n")])];
  }
  const off = { short: -3, long: 3 }[framing] ?? 0;
  return [framing === "none" ? [] : [`Content-Length: ${Math.max(0, body.length + off)}`], body];
}

/** Mostly as it was meant; a quarter is damaged. */
function played(meant: fc.Arbitrary<Buffer>): fc.Arbitrary<Part> {
  return fc.record({
    bytes: fc
      .tuple(meant, damages, fc.nat(3))
      .map(([bytes, damage, luck]) => (luck === 0 ? inflict(bytes, damage, bytes) : bytes)),
    pieces: piecing.map((pieces) => ({ ...pieces, longest: pieces.longest * 100 })),
    ending: fc.constantFrom("stay", "stay", "stay", "end", "destroy", "reset"),
  });
}

/** What clients and upstream do to a gate: for each client its requests, one after the other; answers, taken in turn. */
export interface Play {
  clients: Part[][];
  answers: Part[];
}

export const play: fc.Arbitrary<Play> = fc.record({
  clients: fc.array(fc.array(played(request), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  }),
  answers: fc.array(played(answer), { minLength: 1, maxLength: 4 }),
});
