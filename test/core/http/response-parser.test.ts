import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidResponse } from "../../../src/core/http/framing.ts";
import type { ResponseHead } from "../../../src/core/http/response-head.ts";
import { ResponseParser } from "../../../src/core/http/response-parser.ts";
import {
  AMBIGUOUSLY_FRAMED_RESPONSES,
  BROKEN_CHUNKS,
  UNREADABLE_RESPONSES,
} from "../../security/hostile-responses.ts";

/** What a parser has found in a response. */
interface Found {
  head: ResponseHead | null;
  body: string;
  isComplete: boolean;
  hasSurplus: boolean;
  fault: string | null;
}

/** Parses a response that arrives in these pieces. Stops after its end, and after a fault. */
function parsePieces(pieces: Iterable<string>, hasEnded = false): Found {
  const found: Found = { head: null, body: "", isComplete: false, hasSurplus: false, fault: null };
  const parser = new ResponseParser({
    onHead: (head) => (found.head = head),
    onBody: (bytes) => (found.body += bytes.toString("latin1")),
  });
  try {
    for (const piece of pieces) if (!parser.isComplete) parser.feed(Buffer.from(piece, "latin1"));
    if (hasEnded) parser.end();
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error;
    found.fault = error.message;
  }
  return { ...found, isComplete: parser.isComplete, hasSurplus: parser.hasSurplus };
}

/** The ways in which a response may arrive: whole, byte by byte, and cut once at every position. */
function* waysToArrive(text: string): Generator<string[]> {
  yield [text];
  yield text.split("");
  for (let at = 1; at < text.length; at += 1) yield [text.slice(0, at), text.slice(at)];
}

const CHUNKS = "5;name=value\r\nhello\r\n6\r\n world\r\n0\r\n";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";

for (const [what, text, body] of [
  ["with an announced length", `${HEAD}content-length: 11\r\n\r\nhello world`, "hello world"],
  ["with an announced length of 0", `${HEAD}content-length: 0\r\n\r\n`, ""],
  ["in chunks", `${HEAD}transfer-encoding: Chunked\r\n\r\n${CHUNKS}\r\n`, "hello world"],
  [
    "in chunks, with trailers",
    `${HEAD}transfer-encoding: chunked\r\n\r\n${CHUNKS}a: b\r\nc:d\r\n\r\n`,
    "hello world",
  ],
  ["in chunks of which none has content", `${HEAD}transfer-encoding: chunked\r\n\r\n000\r\n\r\n`, ""],
  [
    "whose status has no body, whatever its length",
    "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n",
    "",
  ],
  ["without headers", "HTTP/1.1 304 Not Modified\r\n\r\n", ""],
  ["after interim responses", `HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n${HEAD}content-length: 1\r\n\r\nx`, "x"],
] as const) {
  test(`a response ${what} is parsed however it arrives`, () => {
    const whole = parsePieces([text]);
    assert.ok(whole.isComplete && !whole.hasSurplus && whole.fault === null, whole.fault ?? "not complete");
    assert.equal(whole.body, body);
    for (const pieces of waysToArrive(text))
      assert.deepEqual(parsePieces(pieces), whole, JSON.stringify(pieces));
  });

  test(`what follows a response ${what} in the same piece is surplus, and not part of it`, () => {
    const { body: found, isComplete, hasSurplus } = parsePieces([`${text}HTTP/1.1 200 OK\r\n\r\n`]);
    assert.deepEqual([found, isComplete, hasSurplus], [body, true, true]);
  });

  test(`a response ${what} is not complete before its last byte`, () => {
    for (let length = 0; length < text.length; length += 1)
      assert.ok(!parsePieces([text.slice(0, length)], true).isComplete, `${length} bytes`);
  });
}

test("a response without length and chunks ends with its connection, and with nothing else", () => {
  for (const pieces of waysToArrive(`${HEAD}\r\nhello\r\n0\r\n\r\n`)) {
    assert.ok(!parsePieces(pieces).isComplete);
    const { body, isComplete } = parsePieces(pieces, true);
    assert.deepEqual([body, isComplete], ["hello\r\n0\r\n\r\n", true]);
  }
});

test("a head keeps the order and the spelling of its lines, and bytes beyond ASCII", () => {
  const { head } = parsePieces([
    "HTTP/1.1 200 \xc3\xa9\r\nB:\t x\xa0 \r\na: \r\nB: 2, 3\r\ncontent-length: 0\r\n\r\n",
  ]);
  assert.deepEqual([head?.status, head?.reason], [200, "\xc3\xa9"]);
  assert.deepEqual(
    head?.headers.lines.map(({ rawName, value }) => [rawName, value]),
    [
      ["B", "x\xa0"],
      ["a", ""],
      ["B", "2, 3"],
      ["content-length", "0"],
    ],
  );
});

for (const [lines, isPersistent] of [
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n", true],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: keep-alive\r\n", true],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: x-close\r\n", true],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close\r\n", false],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: keep-alive\r\nconnection: te , close\r\n", false],
  ["HTTP/1.1 200 OK\r\n", false],
  ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\nConnection: keep-alive\r\n", false],
] as const) {
  test(`after ${JSON.stringify(lines)} the connection ${isPersistent ? "may" : "may not"} be used again`, () => {
    assert.equal(parsePieces([`${lines}\r\n`]).head?.isPersistent, isPersistent);
  });
}

for (const [what, text] of Object.entries({ ...UNREADABLE_RESPONSES, ...AMBIGUOUSLY_FRAMED_RESPONSES })) {
  test(`a response with ${what} is refused before its body, without waiting for more, however it arrives`, () => {
    // Long ones in larger pieces.
    const ways = text.length > 1_000 ? [[text], text.match(/[^]{1,1000}/g) ?? []] : waysToArrive(text);
    for (const pieces of ways) {
      const { head, fault } = parsePieces(pieces);
      assert.deepEqual([head, fault === null], [null, false], JSON.stringify(pieces).slice(0, 300));
    }
  });
}

const BLANK_LINE = /\r\n\r\n/;

for (const [what, text] of Object.entries({ ...UNREADABLE_RESPONSES, ...AMBIGUOUSLY_FRAMED_RESPONSES })) {
  if (what.startsWith("200 KB") || !BLANK_LINE.test(text)) continue;
  test(`a response with ${what} is refused at the latest with the last line of its head, however that arrives`, () => {
    const interim = what.startsWith("an interim response") ? text.search(BLANK_LINE) + 4 : 0;
    const end = interim + text.slice(interim).search(BLANK_LINE) + 2;
    for (const pieces of text.length > 1_000 ? [[text.slice(0, end)]] : waysToArrive(text.slice(0, end)))
      assert.notEqual(parsePieces(pieces).fault, null, JSON.stringify(pieces).slice(0, 300));
  });
}

const STATUS = "HTTP/1.1 200 OK\r\n";

for (const [what, text] of [
  ["a malformed status line", "HTTP/1.1 abc OK\r\n"],
  ["a status out of range", "HTTP/1.1 600 High\r\n"],
  ["another version", "HTTP/1.2 200 OK\r\n"],
  ["an upgrade that was not asked for", "HTTP/1.1 101 Switching Protocols\r\n"],
  ["a header line without a colon", `${STATUS}a: b\r\npoison\r\n`],
  ["a folded header line", `${STATUS}a: b\r\n c\r\n`],
  ["a control character", `${STATUS}a: b\x00\r\n`],
  ["a length and chunks", `${STATUS}content-length: 2\r\na: b\r\nTransfer-Encoding: chunked\r\n`],
  ["chunks and a length", `${STATUS}transfer-encoding: chunked\r\na: b\r\nContent-Length: 2\r\n`],
  ["a second length", `${STATUS}content-length: 2\r\na: b\r\ncontent-length: 2\r\n`],
  ["a length that is no number", `${STATUS}content-length: two\r\n`],
  ["another transfer encoding", `${STATUS}transfer-encoding: gzip\r\n`],
  ["a malformed line after an interim response", `HTTP/1.1 103 Hints\r\n\r\n${STATUS}x y: z\r\n`],
] as const) {
  test(`a head with ${what} is refused with the end of that line, and not before`, () => {
    for (const pieces of waysToArrive(text)) {
      assert.notEqual(parsePieces(pieces).fault, null, JSON.stringify(pieces));
      // Without the last byte, the line could still become another.
      assert.equal(parsePieces([text.slice(0, -2)]).fault, null);
    }
  });
}

test("a head of many lines that arrives byte by byte takes no more than a moment", () => {
  const parser = new ResponseParser({ onHead() {}, onBody() {} });
  const head = Buffer.from(STATUS + "a:b\r\n".repeat(3_000));
  const before = process.cpuUsage();
  for (const byte of head) parser.feed(Buffer.of(byte));
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, `${user} µs`);
});

const INTERIM = "HTTP/1.1 102 Processing\r\n\r\n";

for (const [what, interim, most] of [
  ["1,000", INTERIM, 1000],
  ["256 KB", `HTTP/1.1 103 Hints\r\nlink: ${"a".repeat(1024 - 26)}\r\n\r\n`, 256],
] as const) {
  test(`a response after interim responses of more than ${what} is refused, in one piece or in many`, () => {
    const accepted = interim.repeat(most);
    for (const pieces of [[accepted], Array.from({ length: most }, () => interim)])
      assert.deepEqual(
        [
          parsePieces([...pieces, `${HEAD}content-length: 0\r\n\r\n`]).isComplete,
          parsePieces([...pieces, interim]).fault,
        ],
        [true, "it sent too many interim responses (1xx)"],
      );
  });
}

for (const text of BROKEN_CHUNKS) {
  test(`the chunks ${JSON.stringify(text.slice(text.indexOf("\r\n\r\n") + 4))} are refused, and never complete a response`, () => {
    for (const pieces of waysToArrive(text)) {
      const { body, isComplete, fault } = parsePieces(pieces, true);
      assert.deepEqual([isComplete, fault === null], [false, false], JSON.stringify(pieces));
      assert.doesNotMatch(body, /poison/);
    }
  });
}

for (const trailer of ["x y: z", "poison", "content-length: 5", " a: b", "a: b\x00"]) {
  test(`the trailer ${JSON.stringify(trailer)} is refused with the end of its line, and not before`, () => {
    const text = `${HEAD}transfer-encoding: chunked\r\n\r\n0\r\na: b\r\n${trailer}\r\n`;
    for (const pieces of waysToArrive(text))
      assert.equal(parsePieces(pieces).fault, "a chunk of its body is malformed", JSON.stringify(pieces));
    assert.equal(parsePieces([text.slice(0, -2)]).fault, null);
  });
}

test("content before a malformed chunk is not lost", () => {
  const { body, fault } = parsePieces([`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n`]);
  assert.deepEqual([body, fault], ["hello", "a chunk of its body is malformed"]);
});

test("the content of many small chunks does not keep all of the piece in memory that brought them", () => {
  const piece = Buffer.from(
    `${HEAD}transfer-encoding: chunked\r\n\r\n${"0000000000001\r\nx\r\n".repeat(3_000)}`,
  );
  const found: Buffer[] = [];
  new ResponseParser({ onHead() {}, onBody: (bytes) => found.push(bytes) }).feed(piece);
  assert.equal(Buffer.concat(found).toString(), "x".repeat(3_000));
  assert.ok(!found.some(({ buffer }) => buffer === piece.buffer));
});

for (const [what, extra] of [
  ["an extension", (text: string) => `1;${text}\r\nx\r\n`],
  ["trailers", (text: string) => `0\r\nx: ${text}\r\n\r\n`],
] as const) {
  test(`chunks with ${what} of more than 16 KB are refused`, () => {
    const [accepted, refused] = [16_000, 17_000].map(
      (bytes) => `${HEAD}transfer-encoding: chunked\r\n\r\n${extra("a".repeat(bytes))}`,
    ) as [string, string];
    assert.equal(parsePieces([accepted]).fault, null);
    for (const pieces of [[refused], refused.match(/[^]{1,1000}/g) ?? []])
      assert.equal(parsePieces(pieces).fault, "a chunk of its body is malformed");
  });
}

/** Parses the response to a request that asks for another protocol. */
function parseUpgraded(pieces: Iterable<string>): {
  status: number | null;
  body: string;
  fault: string | null;
} {
  const found = { status: null as number | null, body: "", fault: null as string | null };
  const parser = new ResponseParser(
    {
      onHead: ({ status }) => (found.status = status),
      onBody: (bytes) => (found.body += bytes.toString("latin1")),
    },
    true,
  );
  try {
    for (const piece of pieces) parser.feed(Buffer.from(piece, "latin1"));
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error;
    found.fault = error.message;
  }
  return found;
}

const UPGRADE = "Upgrade: websocket\r\nConnection: Upgrade\r\n";

test("after a 101 that was asked for, all that follows is the other protocol, however it arrives", () => {
  const text = `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 x\r\n${UPGRADE}\r\nHTTP/1.1 200 OK\r\n\r\n`;
  for (const pieces of waysToArrive(text))
    assert.deepEqual(parseUpgraded(pieces), { status: 101, body: "HTTP/1.1 200 OK\r\n\r\n", fault: null });
});

for (const line of ["content-length: 5", "transfer-encoding: chunked"]) {
  test(`a 101 with ${line} is refused, also if it was asked for`, () => {
    for (const pieces of waysToArrive(`HTTP/1.1 101 x\r\n${UPGRADE}${line}\r\n\r\n`))
      assert.match(parseUpgraded(pieces).fault ?? "", /announced a body for another protocol/);
  });
}
