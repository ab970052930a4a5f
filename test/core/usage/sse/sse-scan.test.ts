import assert from "node:assert/strict";
import { test } from "node:test";
import { SseScan } from "../../../../src/core/usage/sse/sse-scan.ts";
import { createRandom, randomPieces, singleBytes } from "../corpus.ts";

/** One event as told: its data, its name, and whether a blank line ended it. */
type Told = [data: string, name: string | null, isEnded: boolean];

function tell(chunks: Iterable<Buffer>): Told[] {
  const told: Told[] = [];
  let parts: Buffer[] = [];
  const sse = new SseScan({
    skips: () => false,
    data: (part) => parts.push(Buffer.from(part)),
    end: (name, isEnded) => {
      told.push([Buffer.concat(parts).toString(), name, isEnded]);
      parts = [];
    },
  });
  for (const chunk of chunks) sse.feed(chunk);
  sse.finish();
  return told;
}

/** The events of a stream; the same in any chunking. */
function read(text: string): Told[] {
  const body = Buffer.from(text);
  const told = tell([body]);
  assert.deepEqual(tell(singleBytes(body)), told);
  for (let seed = 1; seed < 30; seed++) {
    assert.deepEqual(tell(randomPieces(body, 2 + (seed % 9), createRandom(seed))), told, `seed ${seed}`);
  }
  return told;
}

test("lines end with LF, CRLF or CR, mixed as they come", () => {
  const told: Told[] = [
    ["1", "a", true],
    ["2\n3", null, true],
  ];
  for (const end of ["\n", "\r\n", "\r"]) {
    assert.deepEqual(read(`event: a${end}data: 1${end}${end}data: 2${end}data: 3${end}${end}`), told);
  }
  assert.deepEqual(read("event: a\rdata: 1\r\n\ndata: 2\n\rdata: 3\r\n\r"), [
    ["1", "a", true],
    ["2", null, true],
    ["3", null, true],
  ]);
});

test("U+2028, U+2029 and U+0085 end no line", () => {
  assert.deepEqual(read("data: a\u2028b\u2029c\u0085d\n\n"), [["a\u2028b\u2029c\u0085d", null, true]]);
});

test("one byte order mark at the start is dropped, a second one is not", () => {
  assert.deepEqual(read("\u{feff}data: a\n\n"), [["a", null, true]]);
  assert.deepEqual(read("\u{feff}\u{feff}data: a\n\ndata: b\n\n"), [["b", null, true]]);
  assert.deepEqual(read("data: a\n\n\u{feff}data: b\n\n"), [["a", null, true]]);
});

test("one space after the colon belongs to the field, a second one to its value", () => {
  assert.deepEqual(read("data:a\nevent:n\n\ndata:  a\nevent:  n\n\n"), [
    ["a", "n", true],
    [" a", " n", true],
  ]);
});

test("comments, id, retry, unknown fields and longer names are ignored", () => {
  const text =
    ": c\nid: 1\nretry: 2\ndatabase: no\nevents: no\ndat: no\nDATA: no\n data: no\nxata: no\nxvent: no\nx\n:\ndata: a\n\n";
  assert.deepEqual(read(text), [["a", null, true]]);
});

test("a field without a colon has an empty value", () => {
  assert.deepEqual(read("data\ndata: a\ndata\nevent\n\n"), [["\na\n", "", true]]);
});

test("an event without data is not told, and its name is forgotten", () => {
  assert.deepEqual(read("event: a\n\n\n\ndata: 1\n\n"), [["1", null, true]]);
});

test("of two names in one event the last counts", () => {
  assert.deepEqual(read("event: a\nevent: b\ndata: 1\n\n"), [["1", "b", true]]);
});

test("an event that the end of the stream interrupts is told as it is", () => {
  assert.deepEqual(read("event: a\ndata: 1\n"), [["1", "a", false]]);
  assert.deepEqual(read("data: 1\nda"), [["1", null, false]]);
  assert.deepEqual(read("data: par"), [["par", null, false]]);
  assert.deepEqual(read("data:"), [["", null, false]]);
  assert.deepEqual(read(""), []);
});

test("a long line is told whole, wherever it is cut in two", () => {
  for (const length of [1_000, 1_018, 1_024, 1_030, 3_000]) {
    const long = "x".repeat(length);
    const body = Buffer.from(`event: ${long}\ndata: ${long}y\ndata: z\n\nevent: e\n:${long}\ndata: 1\n\n`);
    for (let at = 0; at <= body.length; at += 7) {
      const told = tell([body.subarray(0, at), body.subarray(at)]);
      assert.deepEqual(
        told,
        [
          [`${long}y\nz`, null, true],
          ["1", "e", true],
        ],
        `${length}, cut at ${at}`,
      );
    }
  }
});

test("an event may be skipped also when its line was cut, unless that is very long", () => {
  for (const [length, skipped] of [
    [900, 2],
    [1_200, 1],
  ] as const) {
    let asked = 0;
    const sse = new SseScan({ skips: () => (asked += 1) > 0, data: () => {}, end: () => {} });
    const line = Buffer.from(`data: ${"x".repeat(length)}\n\n`);
    sse.feed(line);
    sse.feed(line.subarray(0, 100));
    sse.feed(line.subarray(100));
    assert.equal(asked, skipped);
  }
});

test("a skipped event is not told, with all its lines", () => {
  const skipped: string[] = [];
  const told: string[] = [];
  const sse = new SseScan({
    skips: (bytes, from, to) => {
      const line = bytes.toString("utf8", from, to);
      if (line.startsWith("no")) skipped.push(line);
      return line.startsWith("no");
    },
    data: (part) => told.push(part.toString()),
    end: () => told.push("end"),
  });
  sse.feed(Buffer.from("data: no 1\ndata: yes\n\ndata: yes 2\ndata: no 2\n\n"));
  assert.deepEqual(skipped, ["no 1"]);
  assert.deepEqual(told, ["yes 2", "\n", "no 2", "end"]);
});
