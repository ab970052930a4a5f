import assert from "node:assert/strict";
import { test } from "node:test";
import { JsonScan } from "../../../../src/core/usage/json/json-scan.ts";
import type { Fields, Shape } from "../../../../src/core/usage/json/json-scan.ts";
import { singleBytes } from "../corpus.ts";

const SHAPE: Shape = { type: 64, usage: 256, message: { id: 64, usage: 256 } };

/** The fields of a document; the same in one chunk, byte by byte, and cut in two at any place. */
function scan(text: string, shape = SHAPE): Fields {
  const whole = scanChunks([Buffer.from(text)], shape);
  assert.ok(whole.isComplete, "complete");
  const bytes = Buffer.from(text);
  assert.deepEqual(scanChunks(singleBytes(bytes), shape).fields, whole.fields);
  for (let at = 0; at <= Math.min(bytes.length, 300); at++) {
    const halves = scanChunks([bytes.subarray(0, at), bytes.subarray(at)], shape);
    assert.deepEqual(halves.fields, whole.fields, `cut at ${at}`);
    assert.ok(halves.isComplete, `cut at ${at}`);
  }
  return whole.fields;
}

function scanChunks(chunks: Iterable<Buffer>, shape = SHAPE): JsonScan {
  const json = new JsonScan(shape);
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

test("of an object the wanted members are kept and the others are not", () => {
  const text = '{"type":"a","content":[{"type":"b","usage":{"n":1}}],"usage":{"n":2,"l":[1,{}]},"usage2":3}';
  assert.deepEqual(scan(text), { type: "a", usage: { n: 2, l: [1, {}] } });
});

test("a member of the same name deeper down, or in an array, is another member", () => {
  const text =
    '{"a":{"type":"no","message":{"id":"no"}},"b":[{"type":"no"}],"message":{"id":"yes","x":{"id":"no"}}}';
  assert.deepEqual(scan(text), { message: { id: "yes" } });
});

test("white space may stand everywhere between the parts", () => {
  assert.deepEqual(scan(' \r\n{\t"type" : "a" ,\n "message" : { "id" : "m" } , "usage" : null } \n'), {
    type: "a",
    message: { id: "m" },
    usage: null,
  });
});

test("escapes are understood in kept strings, in hopped ones and in names", () => {
  const text = String.raw`{"x":"\\\"}{\\","t\u0079pe":"a\"\\\u00e9\ud83d\ude00\n","y\"":"\\","usage":"\\\\"}`;
  assert.deepEqual(scan(text), { type: 'a"\\é😀\n', usage: "\\\\" });
});

test("runs of backslashes before a quote end the string when they are even in number", () => {
  for (let count = 0; count < 9; count++) {
    const inner = "\\".repeat(count) + (count % 2 === 1 ? '"' : "");
    assert.deepEqual(scan(`{"x":"${inner}","type":"a"}`), { type: "a" }, `${count} backslashes`);
  }
});

test("unicode of every length is kept, however the bytes are cut", () => {
  assert.deepEqual(scan('{"type":"aé€😀\u2028","ключ":"значение","usage":"日本語"}'), {
    type: "aé€😀\u2028",
    usage: "日本語",
  });
});

test("a number is kept whole when it lies across chunks", () => {
  assert.deepEqual(scan('{"usage":1234567890}'), { usage: 1234567890 });
  assert.deepEqual(scan('{"usage":-12.5e+3 ,"type":true}'), { usage: -12500, type: true });
});

test("of duplicate names the last counts, as with JSON.parse", () => {
  assert.deepEqual(scan('{"type":"a","message":{"id":"m","usage":1},"type":"b","message":{"id":"n"}}'), {
    type: "b",
    message: { id: "n" },
  });
  assert.equal(scan('{"message":{"id":"m"},"message":null}')["message"], undefined);
});

test("a name that objects inherit is an ordinary one", () => {
  assert.deepEqual(scan('{"__proto__":{"type":"no"},"constructor":1,"toString":2,"type":"a"}'), {
    type: "a",
  });
  assert.deepEqual(Object.getPrototypeOf(scan('{"usage":{"__proto__":{"n":1}}}')), Object.prototype);
});

test("a value of another kind than is wanted is passed over", () => {
  assert.deepEqual(scan('{"message":[{"id":"no"}],"type":"a"}'), { message: undefined, type: "a" });
  assert.deepEqual(scan('[{"type":"no"}]'), {});
  assert.deepEqual(scan('"type"'), {});
});

test("a value longer than its limit is given up, and the rest is read", () => {
  const text = `{"type":"${"x".repeat(63)}","message":{"id":"${"x".repeat(62)}"},"usage":{"n":1}}`;
  assert.deepEqual(scan(text), { type: undefined, message: { id: "x".repeat(62) }, usage: { n: 1 } });
});

test("a value that was too long already in an earlier chunk is given up whole", () => {
  assert.deepEqual(scan(`{"type":"${"x".repeat(200)}","usage":1}`), { type: undefined, usage: 1 });
});

test("a name longer than any that is wanted is passed over", () => {
  assert.deepEqual(scan(`{"${"type".repeat(500)}":1,"type":"a"}`), { type: "a" });
});

test("a kept value that nests deeper than anyone could stringify is given up", () => {
  assert.deepEqual(scan(`{"usage":${nest(33)},"type":"a"}`), { usage: undefined, type: "a" });
  assert.deepEqual(scan(`{"usage":${nest(32)},"type":"a"}`)["usage"], JSON.parse(nest(32)));
});

test("a million open brackets are hopped over", () => {
  const depth = 1_000_000;
  const text = `{"x":${'[{"y":'.repeat(depth)}1${"}]".repeat(depth)},"type":"a"}`;
  assert.deepEqual(scanChunks([Buffer.from(text)]).fields, { type: "a" });
});

test("a string of 8 MB is hopped over in chunks that begin and end with backslashes", () => {
  const text = Buffer.from(`{"x":"${String.raw`\\\"`.repeat(2_000_000)}","type":"a"}`);
  const chunks = Array.from({ length: Math.ceil(text.length / 65_537) }, (_, i) =>
    text.subarray(i * 65_537, (i + 1) * 65_537),
  );
  assert.deepEqual(scanChunks(chunks).fields, { type: "a" });
});

test("a document that breaks off anywhere is not complete", () => {
  const text = '{"type":"a","x":[1,{"y":"z"}],"usage":{"n":12}}';
  for (let length = 0; length < text.length; length++) assert.equal(isComplete(text.slice(0, length)), false);
  assert.equal(isComplete(text), true);
});

test("what is no JSON, or more than one document, is broken", () => {
  for (const text of ["<html>", "{'type':1}", "{type:1}", '{"type"="a"}', '{"type":}', '{"type":tru}']) {
    assert.equal(scanChunks([Buffer.from(text)]).isBroken, true, text);
  }
  assert.equal(isComplete('{"type":"a"}{"type":"b"}'), false);
});

test("a name with a control character in it is no JSON, wanted or not, however it is cut", () => {
  for (const name of ["type\u0001", "no\n", "\t", "usage\u0000"]) {
    const bytes = Buffer.from(`{"${name}":1}`);
    for (let at = 0; at <= bytes.length; at++) {
      const json = scanChunks([bytes.subarray(0, at), bytes.subarray(at)]);
      assert.equal(json.isBroken, true, `${JSON.stringify(name)} cut at ${at}`);
    }
  }
});

test("after a reset the next document owes nothing to the last", () => {
  const json = new JsonScan(SHAPE);
  json.feed(Buffer.from('{"type":"a","message":{"id":"\\'));
  const before = json.fields;
  json.reset();
  json.feed(Buffer.from('{"usage":1}'));
  assert.deepEqual(json.fields, { usage: 1 });
  assert.deepEqual(before, { type: "a", message: {} });
  assert.ok(json.isComplete);
});
