import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../src/core/json.ts";
import { JsonScanner, type Selection } from "../../../../src/core/usage/json/json-scanner.ts";
import { singleBytes } from "../corpus.ts";

const SELECTION: Selection = { type: 64, usage: 256, message: { id: 64, usage: 256 } };

/** Reads a document, and asserts that its fields are the same byte by byte, and in two chunks split anywhere. */
function scan(text: string, selection = SELECTION): JsonObject {
  const whole = scanChunks([Buffer.from(text)], selection);
  assert.ok(whole.isComplete, "complete");
  const bytes = Buffer.from(text);
  assert.deepEqual(scanChunks(singleBytes(bytes), selection).fields, whole.fields);
  for (let at = 0; at <= Math.min(bytes.length, 300); at++) {
    const halves = scanChunks([bytes.subarray(0, at), bytes.subarray(at)], selection);
    assert.deepEqual(halves.fields, whole.fields, `cut at ${at}`);
    assert.ok(halves.isComplete, `cut at ${at}`);
  }
  return whole.fields;
}

function scanChunks(chunks: Iterable<Buffer>, selection = SELECTION): JsonScanner {
  const json = new JsonScanner(selection);
  for (const chunk of chunks) json.feed(chunk);
  return json;
}

function isComplete(text: string): boolean {
  const isWhole = scanChunks([Buffer.from(text)]).isComplete;
  assert.equal(scanChunks(singleBytes(Buffer.from(text))).isComplete, isWhole);
  return isWhole;
}

function nest(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

test("keeps the selected members of an object only", () => {
  const text = '{"type":"a","content":[{"type":"b","usage":{"n":1}}],"usage":{"n":2,"l":[1,{}]},"usage2":3}';
  assert.deepEqual(scan(text), { type: "a", usage: { n: 2, l: [1, {}] } });
});

test("does not take a member of the same name at another depth, or in an array", () => {
  const text =
    '{"a":{"type":"no","message":{"id":"no"}},"b":[{"type":"no"}],"message":{"id":"yes","x":{"id":"no"}}}';
  assert.deepEqual(scan(text), { message: { id: "yes" } });
});

test("accepts white space between all tokens", () => {
  assert.deepEqual(scan(' \r\n{\t"type" : "a" ,\n "message" : { "id" : "m" } , "usage" : null } \n'), {
    type: "a",
    message: { id: "m" },
    usage: null,
  });
});

test("reads escapes in kept strings, skipped strings and names", () => {
  const text = String.raw`{"x":"\\\"}{\\","t\u0079pe":"a\"\\\u00e9\ud83d\ude00\n","y\"":"\\","usage":"\\\\"}`;
  assert.deepEqual(scan(text), { type: 'a"\\é😀\n', usage: "\\\\" });
});

test("ends a string at a quote after an even number of backslashes", () => {
  for (let count = 0; count < 9; count++) {
    const inner = "\\".repeat(count) + (count % 2 === 1 ? '"' : "");
    assert.deepEqual(scan(`{"x":"${inner}","type":"a"}`), { type: "a" }, `${count} backslashes`);
  }
});

test("keeps UTF-8 sequences of every length, wherever they are split", () => {
  assert.deepEqual(scan('{"type":"aé€😀\u2028","ключ":"значение","usage":"日本語"}'), {
    type: "aé€😀\u2028",
    usage: "日本語",
  });
});

test("keeps a number that is split between chunks", () => {
  assert.deepEqual(scan('{"usage":1234567890}'), { usage: 1234567890 });
  assert.deepEqual(scan('{"usage":-12.5e+3 ,"type":true}'), { usage: -12500, type: true });
});

test("takes the last of duplicate names, like JSON.parse", () => {
  assert.deepEqual(scan('{"type":"a","message":{"id":"m","usage":1},"type":"b","message":{"id":"n"}}'), {
    type: "b",
    message: { id: "n" },
  });
  assert.equal(scan('{"message":{"id":"m"},"message":null}')["message"], null);
});

test("reads names like inherited properties as ordinary ones", () => {
  assert.deepEqual(scan('{"__proto__":{"type":"no"},"constructor":1,"toString":2,"type":"a"}'), {
    type: "a",
  });
  assert.deepEqual(Object.getPrototypeOf(scan('{"usage":{"__proto__":{"n":1}}}')), Object.prototype);
});

test("skips a value of another type than selected", () => {
  assert.deepEqual(scan('{"message":[{"id":"no"}],"type":"a"}'), { message: undefined, type: "a" });
  assert.deepEqual(scan('[{"type":"no"}]'), {});
  assert.deepEqual(scan('"type"'), {});
});

test("drops a value longer than its limit, and reads the rest", () => {
  const text = `{"type":"${"x".repeat(63)}","message":{"id":"${"x".repeat(62)}"},"usage":{"n":1}}`;
  assert.deepEqual(scan(text), { type: undefined, message: { id: "x".repeat(62) }, usage: { n: 1 } });
});

test("drops the whole of a value that exceeded its limit in an earlier chunk", () => {
  assert.deepEqual(scan(`{"type":"${"x".repeat(200)}","usage":1}`), { type: undefined, usage: 1 });
});

test("skips a member whose name is longer than any selected one", () => {
  assert.deepEqual(scan(`{"${"type".repeat(500)}":1,"type":"a"}`), { type: "a" });
});

test("drops a value that nests deeper than 32 levels", () => {
  assert.deepEqual(scan(`{"usage":${nest(33)},"type":"a"}`), { usage: undefined, type: "a" });
  assert.deepEqual(scan(`{"usage":${nest(32)},"type":"a"}`)["usage"], JSON.parse(nest(32)));
});

test("skips a value with a million open brackets", () => {
  const depth = 1_000_000;
  const text = `{"x":${'[{"y":'.repeat(depth)}1${"}]".repeat(depth)},"type":"a"}`;
  assert.deepEqual(scanChunks([Buffer.from(text)]).fields, { type: "a" });
});

test("skips a string of 8 MB in chunks that begin and end with backslashes", () => {
  const text = Buffer.from(`{"x":"${String.raw`\\\"`.repeat(2_000_000)}","type":"a"}`);
  const chunks = Array.from({ length: Math.ceil(text.length / 65_537) }, (_, i) =>
    text.subarray(i * 65_537, (i + 1) * 65_537),
  );
  assert.deepEqual(scanChunks(chunks).fields, { type: "a" });
});

test("reports a document that is truncated anywhere as incomplete", () => {
  const text = '{"type":"a","x":[1,{"y":"z"}],"usage":{"n":12}}';
  for (let length = 0; length < text.length; length++) assert.equal(isComplete(text.slice(0, length)), false);
  assert.equal(isComplete(text), true);
});

test("reports text that is not JSON as broken, and two documents as incomplete", () => {
  for (const text of ["<html>", "{'type':1}", "{type:1}", '{"type"="a"}', '{"type":}', '{"type":tru}']) {
    assert.equal(scanChunks([Buffer.from(text)]).isBroken, true, text);
  }
  assert.equal(isComplete('{"type":"a"}{"type":"b"}'), false);
});

test("reports a name with a control character as broken, wherever it is split", () => {
  for (const name of ["type\u0001", "no\n", "\t", "usage\u0000"]) {
    const bytes = Buffer.from(`{"${name}":1}`);
    for (let at = 0; at <= bytes.length; at++) {
      const json = scanChunks([bytes.subarray(0, at), bytes.subarray(at)]);
      assert.equal(json.isBroken, true, `${JSON.stringify(name)} cut at ${at}`);
    }
  }
});

test("reads another document after a reset, without a trace of the first", () => {
  const json = new JsonScanner(SELECTION);
  json.feed(Buffer.from('{"type":"a","message":{"id":"\\'));
  const before = json.fields;
  json.reset();
  json.feed(Buffer.from('{"usage":1}'));
  assert.deepEqual(json.fields, { usage: 1 });
  assert.deepEqual(before, { type: "a", message: {} });
  assert.ok(json.isComplete);
});
