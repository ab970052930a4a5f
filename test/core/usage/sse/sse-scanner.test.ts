import assert from "node:assert/strict";
import { test } from "node:test";
import { SseScanner } from "../../../../src/core/usage/sse/sse-scanner.ts";
import { createRandom, randomPieces, singleBytes } from "../corpus.ts";

/** A received event: its data, its name, and whether a blank line ended it. */
type Received = [data: string, name: string | null, isEnded: boolean];

function scan(chunks: Iterable<Buffer>): Received[] {
  const received: Received[] = [];
  let parts: Buffer[] = [];
  const sse = new SseScanner({
    canSkip: () => false,
    addData: (part) => parts.push(Buffer.from(part)),
    endEvent: (name, isEnded) => {
      received.push([Buffer.concat(parts).toString(), name, isEnded]);
      parts = [];
    },
  });
  for (const chunk of chunks) sse.feed(chunk);
  sse.finish();
  return received;
}

/** Reads a stream, and asserts that its events are the same in any chunking. */
function read(text: string): Received[] {
  const body = Buffer.from(text);
  const received = scan([body]);
  assert.deepEqual(scan(singleBytes(body)), received);
  for (let seed = 1; seed < 30; seed++) {
    assert.deepEqual(scan(randomPieces(body, 2 + (seed % 9), createRandom(seed))), received, `seed ${seed}`);
  }
  return received;
}

test("ends lines with LF, CRLF or CR, in any mixture", () => {
  const received: Received[] = [
    ["1", "a", true],
    ["2\n3", null, true],
  ];
  for (const end of ["\n", "\r\n", "\r"]) {
    assert.deepEqual(read(`event: a${end}data: 1${end}${end}data: 2${end}data: 3${end}${end}`), received);
  }
  assert.deepEqual(read("event: a\rdata: 1\r\n\ndata: 2\n\rdata: 3\r\n\r"), [
    ["1", "a", true],
    ["2", null, true],
    ["3", null, true],
  ]);
});

test("does not end a line with U+2028, U+2029 or U+0085", () => {
  assert.deepEqual(read("data: a\u2028b\u2029c\u0085d\n\n"), [["a\u2028b\u2029c\u0085d", null, true]]);
});

test("drops one byte order mark at the start, but not a second one", () => {
  assert.deepEqual(read("\u{feff}data: a\n\n"), [["a", null, true]]);
  assert.deepEqual(read("\u{feff}\u{feff}data: a\n\ndata: b\n\n"), [["b", null, true]]);
  assert.deepEqual(read("data: a\n\n\u{feff}data: b\n\n"), [["a", null, true]]);
});

test("removes one space after the colon, and keeps a second one", () => {
  assert.deepEqual(read("data:a\nevent:n\n\ndata:  a\nevent:  n\n\n"), [
    ["a", "n", true],
    [" a", " n", true],
  ]);
});

test("ignores comments, id, retry, unknown fields and longer names", () => {
  const text =
    ": c\nid: 1\nretry: 2\ndatabase: no\nevents: no\ndat: no\nDATA: no\n data: no\nxata: no\nxvent: no\nx\n:\ndata: a\n\n";
  assert.deepEqual(read(text), [["a", null, true]]);
});

test("reads a field without a colon as empty", () => {
  assert.deepEqual(read("data\ndata: a\ndata\nevent\n\n"), [["\na\n", "", true]]);
});

test("reports no event without data, and forgets its name", () => {
  assert.deepEqual(read("event: a\n\n\n\ndata: 1\n\n"), [["1", null, true]]);
});

test("takes the last of two names in one event", () => {
  assert.deepEqual(read("event: a\nevent: b\ndata: 1\n\n"), [["1", "b", true]]);
});

test("reports an event that the end of the stream interrupts", () => {
  assert.deepEqual(read("event: a\ndata: 1\n"), [["1", "a", false]]);
  assert.deepEqual(read("data: 1\nda"), [["1", null, false]]);
  assert.deepEqual(read("data: par"), [["par", null, false]]);
  assert.deepEqual(read("data:"), [["", null, false]]);
  assert.deepEqual(read(""), []);
});

test("reports the whole of a long line, wherever it is split", () => {
  for (const length of [1_000, 1_018, 1_024, 1_030, 3_000]) {
    const long = "x".repeat(length);
    const body = Buffer.from(`event: ${long}\ndata: ${long}y\ndata: z\n\nevent: e\n:${long}\ndata: 1\n\n`);
    for (let at = 0; at <= body.length; at += 7) {
      const received = scan([body.subarray(0, at), body.subarray(at)]);
      assert.deepEqual(
        received,
        [
          [`${long}y\nz`, null, true],
          ["1", "e", true],
        ],
        `${length}, cut at ${at}`,
      );
    }
  }
});

test("offers to skip an event whose line was split, unless the line is longer than 1024 bytes", () => {
  for (const [length, skipped] of [
    [900, 2],
    [1_200, 1],
  ] as const) {
    let asked = 0;
    const sse = new SseScanner({ canSkip: () => (asked += 1) > 0, addData: () => {}, endEvent: () => {} });
    const line = Buffer.from(`data: ${"x".repeat(length)}\n\n`);
    sse.feed(line);
    sse.feed(line.subarray(0, 100));
    sse.feed(line.subarray(100));
    assert.equal(asked, skipped);
  }
});

test("reports no line of a skipped event", () => {
  const skipped: string[] = [];
  const received: string[] = [];
  const sse = new SseScanner({
    canSkip: (bytes, from, to) => {
      const line = bytes.toString("utf8", from, to);
      if (line.startsWith("no")) skipped.push(line);
      return line.startsWith("no");
    },
    addData: (part) => received.push(part.toString()),
    endEvent: () => received.push("end"),
  });
  sse.feed(Buffer.from("data: no 1\ndata: yes\n\ndata: yes 2\ndata: no 2\n\n"));
  assert.deepEqual(skipped, ["no 1"]);
  assert.deepEqual(received, ["yes 2", "\n", "no 2", "end"]);
});
