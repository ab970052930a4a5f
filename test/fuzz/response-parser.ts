import * as fc from "fast-check";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { InvalidResponse } from "../../src/core/http/framing.ts";
import { ResponseParser } from "../../src/core/http/response-parser.ts";
import { chunking, splitIntoChunks, type Chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";
import { STRICTER } from "./stricter.ts";

/** What a client sees of a response; null in place of one that it refuses before its head. */
type Seen = { status: number; headers: string[]; body: string; isWhole: boolean } | null;

/** A response as it is written, with damage. */
interface Written {
  interim: number;
  status: number;
  version: string;
  headers: [name: string, value: string][];
  framing: "length" | "chunked" | "connection";
  pieces: string[];
  extension: string;
  trailers: string;
  edits: { at: number; cut: number; text: string }[];
}

const WORDS = [
  "\r\n",
  "\n",
  "\r",
  " ",
  "\t",
  ":",
  "0",
  "f",
  "content-length: 1\r\n",
  "chunked",
  "\0",
  "\x80",
  ";",
  ",",
  "\t\r\n",
  "=",
  '"',
  ';a="b"',
  "gzip, ",
  "HTTP/1.1 103 x\r\n\r\n",
  "transfer-encoding: chunked\r\n",
];

const written: fc.Arbitrary<Written> = fc.record({
  interim: fc.constantFrom(0, 0, 0, 1, 2),
  status: fc.constantFrom(200, 200, 201, 204, 304, 400, 429, 500, 599),
  version: fc.constantFrom("1.1", "1.1", "1.1", "1.0"),
  headers: fc.array(
    fc.tuple(
      fc.constantFrom("x-note", "Server", "connection", "Set-Cookie"),
      fc.constantFrom("", "a", "close", "a, b", "\xe9"),
    ),
    { maxLength: 4 },
  ),
  framing: fc.constantFrom("length", "chunked", "connection"),
  pieces: fc.array(fc.constantFrom("x", "hello", "{}", "0\r\n\r\n", "\r\n", "\xff".repeat(40)), {
    maxLength: 5,
  }),
  extension: fc.constantFrom("", "", ";a", ";a=b;c"),
  trailers: fc.constantFrom("", "", "x: y\r\n"),
  edits: fc.array(
    fc.record({
      at: fc.nat(),
      cut: fc.constantFrom(0, 0, 1, 2, 20),
      text: fc.oneof(
        fc.constantFrom("", ...WORDS),
        fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)),
      ),
    }),
    { maxLength: 2 },
  ),
});

function write({
  interim,
  status,
  version,
  headers,
  framing,
  pieces,
  extension,
  trailers,
  edits,
}: Written): string {
  const body = pieces.join("");
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  if (framing === "length") lines.push(`content-length: ${body.length}\r\n`);
  if (framing === "chunked") lines.push("transfer-encoding: chunked\r\n");
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`);
  let text = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(interim);
  text += `HTTP/${version} ${status} Reason\r\n${lines.join("")}\r\n`;
  text += framing === "chunked" ? `${chunks.join("")}0\r\n${trailers}\r\n` : body;
  for (const { at, cut, text: inserted } of edits) {
    const start = at % (text.length + 1);
    text = text.slice(0, start) + inserted + text.slice(start + cut);
  }
  return text;
}

/** What our parser sees of a connection on which this arrives, and nothing else. */
function seeWithOurs(text: string, chunks: Chunking): Seen {
  let seen: Seen = null;
  const parser = new ResponseParser({
    onHead({ status, headers }) {
      const flat = headers.lines.flatMap(({ rawName, value }) => [rawName, value]);
      seen = { status, headers: flat, body: "", isWhole: false };
    },
    onBody(bytes) {
      if (seen !== null) seen.body += bytes.toString("latin1");
    },
  });
  try {
    for (const piece of splitIntoChunks(Buffer.from(text, "latin1"), chunks))
      if (!parser.isComplete) parser.feed(Buffer.from(piece));
    parser.end();
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error;
  }
  if (seen !== null) (seen as NonNullable<Seen>).isWhole = parser.isComplete;
  return seen;
}

/** What Node's client sees. All of it is in memory, and over after some turns of the event loop. */
async function seeWithNode(text: string): Promise<Seen> {
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const sent = request({ createConnection: () => connection, insecureHTTPParser: false });
  let response: IncomingMessage | null = null;
  let body = "";
  sent.on("error", () => {});
  sent.on("response", (incoming) => {
    response = incoming;
    incoming.on("data", (bytes: Buffer) => (body += bytes.toString("latin1")));
    incoming.on("error", () => {});
  });
  sent.end();
  connection.push(Buffer.from(text, "latin1"));
  connection.push(null);
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  connection.destroy();
  const incoming = response as IncomingMessage | null;
  if (incoming?.statusCode === undefined) return null;
  return { status: incoming.statusCode, headers: incoming.rawHeaders, body, isWhole: incoming.complete };
}

const DOCUMENT = readFileSync("docs/testing.md", "utf8");

/** Node 20 is what the list was made with. A later one may have become as strict. */
const IS_NODE_20 = process.version.startsWith("v20.");

/** Properties of the parser of upstream responses. */
export const RESPONSE_PARSER: readonly Property[] = [
  property(
    "response parser: what it accepts, Node's parser reads as the same response, however it arrives",
    { batch: 300 },
    fc.asyncProperty(written, chunking, async (response, chunks) => {
      const text = write(response);
      const ours = seeWithOurs(text, chunks);
      if (ours === null) return;
      const nodes = await seeWithNode(text);
      assert.ok(nodes !== null, `Node refuses ${JSON.stringify(text)}`);
      assert.deepEqual([ours.status, ours.headers], [nodes.status, nodes.headers]);
      if (ours.isWhole) assert.deepEqual([ours.body, ours.isWhole], [nodes.body, nodes.isWhole]);
      // Of a response that breaks off, either may have read further, and Node may have gone on.
      else assert.ok(ours.body.startsWith(nodes.body) || nodes.body.startsWith(ours.body));
    }),
  ),
  property(
    "response parser: what Node's parser takes whole is refused only for a point that docs/testing.md lists",
    { batch: 300 },
    fc.asyncProperty(written, chunking, async (response, chunks) => {
      const text = write(response);
      if (seeWithOurs(text, chunks)?.isWhole === true) return;
      if ((await seeWithNode(text))?.isWhole !== true) return;
      assert.ok(
        STRICTER.some(({ isIn }) => isIn(text)),
        `only ours refuses ${JSON.stringify(text)}`,
      );
    }),
  ),
  property(
    "response parser: each listed point is refused, however it arrives, and taken by Node's parser",
    { batch: 100 },
    fc.asyncProperty(fc.constantFrom(...STRICTER), chunking, async ({ what, example, isIn }, chunks) => {
      assert.ok(DOCUMENT.includes(`| ${what} `), `docs/testing.md does not list ${what}`);
      assert.ok(isIn(example));
      assert.notEqual(seeWithOurs(example, chunks)?.isWhole, true, what);
      if (IS_NODE_20) assert.equal((await seeWithNode(example))?.isWhole, true, what);
    }),
  ),
  property(
    "response parser: a response that is valid is accepted, however it arrives",
    { batch: 1_000 },
    fc.property(written, chunking, (response, chunks) => {
      const { status, pieces, framing } = response;
      fc.pre(!(framing === "chunked" && response.version === "1.0"));
      const seen = seeWithOurs(write({ ...response, edits: [] }), chunks);
      const hasBody = status !== 204 && status !== 304;
      assert.deepEqual(
        [seen?.status, seen?.body, seen?.isWhole],
        [status, hasBody ? pieces.join("") : "", true],
      );
    }),
  ),
];
