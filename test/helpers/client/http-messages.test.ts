import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageReader, readMessages, statusesOf, type RawMessage } from "./http-messages.ts";

const HEAD = "HTTP/1.1 200 OK\r\n";
const WITH_LENGTH = `${HEAD}Content-Length: 5\r\nX-A:  b \r\n\r\nhello`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1A\r\n${"x".repeat(26)}\r\n0\r\n\r\n`;
const EMPTY = "HTTP/1.1 204 No Content\r\n\r\n";
const INTERIM = "HTTP/1.1 100 Continue\r\n\r\n";
const UNTIL_CLOSE = `${HEAD}\r\nuntil the end`;
const REQUESTS = "GET / HTTP/1.1\r\nhost: a\r\n\r\nPOST /b HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";

/** Feeds pieces to one reader; returns the status and body of each message, and its fault. */
function readPieces(pieces: readonly string[]): { found: string[]; fault: string | null } {
  const found: string[] = [];
  const reader = new MessageReader({
    onHead: ({ start }: RawMessage) => found.push(`${start} `),
    onBody: (bytes, from, to) => (found[found.length - 1] += bytes.toString("latin1", from, to)),
    onEnd: () => (found[found.length - 1] += "|"),
  });
  for (const piece of pieces)
    for (let rest: Buffer = Buffer.from(piece, "latin1"); rest.length > 0;) rest = reader.feed(rest);
  reader.close();
  return { found, fault: reader.fault };
}

test("messages of every framing are read to their ends, wherever they are divided", () => {
  const text = INTERIM + WITH_LENGTH + CHUNKED + EMPTY + CHUNKED + UNTIL_CLOSE;
  const whole = readPieces([text]);
  assert.deepEqual(whole, {
    found: [
      "HTTP/1.1 100 Continue |",
      "HTTP/1.1 200 OK hello|",
      `HTTP/1.1 200 OK hello${"x".repeat(26)}|`,
      "HTTP/1.1 204 No Content |",
      `HTTP/1.1 200 OK hello${"x".repeat(26)}|`,
      "HTTP/1.1 200 OK until the end|",
    ],
    fault: null,
  });
  for (let at = 1; at < text.length; at += 1)
    assert.deepEqual(readPieces([text.slice(0, at), text.slice(at)]), whole, `divided at ${at}`);
  assert.deepEqual(readPieces(text.split("")), whole);
});

test("requests are read, too, and have no body without a length", () => {
  assert.deepEqual(readMessages(REQUESTS), {
    messages: [
      { start: "GET / HTTP/1.1", headers: [["host", "a"]], body: "" },
      { start: "POST /b HTTP/1.1", headers: [["content-length", "2"]], body: "{}" },
    ],
    rest: "",
    fault: null,
  });
});

test("what is cut off is left over, and is no message", () => {
  for (let at = 1; at < WITH_LENGTH.length; at += 1) {
    const { messages, rest, fault } = readMessages(CHUNKED + WITH_LENGTH.slice(0, at));
    assert.deepEqual([messages.length, rest, fault], [1, WITH_LENGTH.slice(0, at), null]);
  }
  for (let at = 1; at < CHUNKED.length; at += 1)
    assert.equal(readMessages(CHUNKED.slice(0, at)).messages.length, 0, `cut at ${at}`);
});

for (const [what, text, fault] of [
  ["a length and chunks", `${HEAD}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, /^framed twice$/],
  ["two lengths", `${HEAD}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`, /^framed twice$/],
  ["a length with a sign", `${HEAD}Content-Length: +1\r\n\r\nx`, /^content-length: \+1$/],
  ["a length with a leading zero", `${HEAD}Content-Length: 01\r\n\r\nx`, /^content-length: 01$/],
  ["another coding", `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`, /^transfer-encoding: gzip, chunked$/],
  ["a status line of another version", "HTTP/1.0 200 OK\r\n\r\n", /^first line: /],
  ["a header line without a colon", `${HEAD}content-length\r\n\r\n`, /^header line: /],
  ["a header that goes on in the next line", `${HEAD}a: b\r\n c\r\n\r\n`, /^header line: /],
  ...["5;a=b\r\n", "05\r\n", "\r\n", "g\r\n", "5 \r\n", "5\n", "-1\r\n", "0x5\r\n"].map(
    (size) =>
      [`the chunk size ${JSON.stringify(size)}`, CHUNKED.replace("5\r\n", size), /^chunk size: /] as const,
  ),
  ["a chunk that is longer than its size", CHUNKED.replace("hello", "hello!"), /^no line end after a chunk$/],
  ["a trailer", CHUNKED.replace("0\r\n\r\n", "0\r\na: b\r\n\r\n"), /^no line end after a chunk$/],
] as const) {
  test(`${what} is a fault, and nothing is read after it`, () => {
    const reading = readMessages(WITH_LENGTH + text + WITH_LENGTH);
    assert.match(reading.fault ?? "no fault", fault);
    assert.deepEqual([reading.messages.length, reading.rest], [1, text + WITH_LENGTH]);
    assert.deepEqual(statusesOf(WITH_LENGTH + text), [200, "fault"]);
    assert.match(readPieces(text.split("")).fault ?? "no fault", fault);
  });
}
