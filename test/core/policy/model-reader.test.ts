import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ModelReader } from "../../../src/core/policy/model-reader.ts";

/** Reads a body in pieces of this many bytes. Returns the model, or the fault in angle brackets. */
function read(body: Buffer | string, pieceBytes = Infinity): string {
  const bytes = Buffer.from(body);
  const reader = new ModelReader(null);
  const step = Math.min(pieceBytes, Math.max(1, bytes.length));
  for (let at = 0; at < bytes.length; at += step) reader.feed(bytes.subarray(at, at + step));
  const fault = reader.finish();
  return fault === null ? (reader.place?.model ?? "") : `<${fault}>`;
}

const INVALID = "<the body is not valid JSON>";
const SPELLING = '<a member\'s name is another spelling of "model">';
const UNREADABLE = "<the model's name cannot be read>";
const NO_OBJECT = "<the body is not a JSON object>";

/** Bodies that name one model for every decoder. */
const READABLE: [what: string, body: string, model: string][] = [
  ["the model first", '{"model":"m-1","input":"hello"}', "m-1"],
  [
    "the model last, after white space of all kinds",
    ' \r\n\t{ "input" : [1,{"a":"b"}] ,\n"model"\t: "m-1" }\n\r\t ',
    "m-1",
  ],
  [
    "a model in nested objects and texts",
    '{"x":{"model":"a"},"y":"\\"model\\":\\"b\\"","z":[{"model":1}],"model":"m"}',
    "m",
  ],
  ["a model with escapes that all decoders know", '{"model":"a\\u002db\\/c\\"\\\\"}', 'a-b/c"\\'],
  ["a model in UTF-8", '{"model":"modèle 模型 😀"}', "modèle 模型 😀"],
  ["a model with an escaped pair of surrogates", '{"model":"\\ud83d\\ude00"}', "😀"],
  [
    "every kind of value",
    '{"a":null,"b":true,"c":false,"d":-0.5e+10,"e":0,"f":[],"g":{},"h":1E5,"i":10,"model":"m"}',
    "m",
  ],
  ["names that only contain it", '{"models":"x","model_id":"y","mode":"z","model":"m"}', "m"],
];

/** Bodies in which decoders could find another model, or none. */
const UNREADABLE_BODIES: [what: string, body: Buffer | string, fault: string][] = [
  ["two models", '{"model":"a","model":"b"}', "<the body names two models>"],
  ["the same model twice", '{"model":"a","model":"a"}', "<the body names two models>"],
  ["a second model that is escaped", '{"model":"a","mod\\u0065l":"b"}', SPELLING],
  ["a first model that is escaped", '{"\\u006d\\u006f\\u0064\\u0065\\u006c":"b","model":"a"}', SPELLING],
  ["a model in capitals", '{"Model":"a","model":"b"}', SPELLING],
  ["only a model in capitals", '{"MODEL":"a"}', SPELLING],
  ["a name with a zero byte", '{"model\\u0000":"a","model":"b"}', SPELLING],
  ["a name with a zero-width space", '{"mo\u200bdel":"a","model":"b"}', SPELLING],
  ["a name with a byte that is not UTF-8", Buffer.from('{"mod\xffel":"a","model":"b"}', "latin1"), SPELLING],
  ["a byte order mark", '\ufeff{"model":"a"}', NO_OBJECT],
  ["UTF-16", Buffer.from('{"model":"a"}', "utf16le"), INVALID],
  ["a list", '[{"model":"a"}]', NO_OBJECT],
  ["nothing", "", "<the body is not complete JSON>"],
  ["the start of an object", '{"model":"a"', "<the body is not complete JSON>"],
  ["a second object", '{"model":"a"}{"model":"b"}', "<something follows the JSON object>"],
  ["text after the object", '{"model":"a"}x', "<something follows the JSON object>"],
  ["no model", '{"input":"model"}', "<the body names no model>"],
  ["an empty object", "{}", "<the body names no model>"],
  ["a model that is a number", '{"model":1}', "<the model is not a string>"],
  ["a model that is null", '{"model":null}', "<the model is not a string>"],
  ["a model that is an object", '{"model":{"model":"a"}}', "<the model is not a string>"],
  ["an empty model", '{"model":""}', UNREADABLE],
  ["a model that is not UTF-8", Buffer.from('{"model":"a\xff"}', "latin1"), UNREADABLE],
  ["a model with half a pair of surrogates", '{"model":"a\\ud83d"}', UNREADABLE],
  ["a model of 2 KB", `{"model":"${"x".repeat(2048)}"}`, "<the model's name is too long>"],
  ["a comment", '{/* "model":"b", */"model":"a"}', INVALID],
  ["a line comment", '{"a":1,// \n"model":"a"}', INVALID],
  ["single quotes", "{'model':'b',\"model\":\"a\"}", INVALID],
  ["a name without quotes", '{model:"b"}', INVALID],
  ["a comma at the end", '{"model":"a",}', INVALID],
  ["two commas", '{"a":1,,"model":"a"}', INVALID],
  ["no comma", '{"a":1 "model":"a"}', INVALID],
  ["a line break in a string", '{"a":"x\ny","model":"a"}', INVALID],
  ["an unknown escape", '{"a":"\\x41","model":"a"}', INVALID],
  ["an escape with too few digits", '{"a":"\\u00e","model":"a"}', INVALID],
  ["NaN", '{"a":NaN,"model":"a"}', INVALID],
  ["Infinity", '{"a":-Infinity,"model":"a"}', INVALID],
  ["a number with a leading zero", '{"a":01,"model":"a"}', INVALID],
  ["a number that ends with a point", '{"a":1.,"model":"a"}', INVALID],
  ["a hexadecimal number", '{"a":0x1,"model":"a"}', INVALID],
  ["a word that is no value", '{"a":trues,"model":"a"}', INVALID],
  ["the wrong bracket", '{"a":[1},"model":"a"}', INVALID],
  [
    "brackets 600 deep",
    `{"a":${"[".repeat(600)}${"]".repeat(600)},"model":"a"}`,
    "<the body is nested too deeply>",
  ],
];

for (const [what, body, model] of READABLE) {
  test(`the model is read of a body with ${what}, in any chunking`, () => {
    const parsed: unknown = JSON.parse(body);
    assert.equal(Reflect.get(parsed as object, "model"), model);
    for (const pieceBytes of [Infinity, 1, 2, 3, 7]) assert.equal(read(body, pieceBytes), model);
  });
}

for (const [what, body, fault] of UNREADABLE_BODIES) {
  test(`no model is read of a body with ${what}, in any chunking`, () => {
    for (const pieceBytes of [Infinity, 1, 2, 3, 7]) assert.equal(read(body, pieceBytes), fault);
  });
}

test("the place of the model is that of its value, quotes included, and of the last brace", () => {
  const body = '{"é":1,"model" : "a\\u002db"} \n';
  const bytes = Buffer.from(body);
  const reader = new ModelReader(null);
  for (const byte of bytes) reader.feed(Buffer.from([byte]));
  const { from = 0, to = 0 } = reader.place ?? {};
  assert.equal(bytes.subarray(from, to).toString(), '"a\\u002db"');
  assert.equal(bytes[reader.endsAt ?? -1], "}".charCodeAt(0));
  assert.equal(reader.bytes, bytes.length);
});

test("the model is known as soon as its value has been read", () => {
  const reader = new ModelReader(null);
  const models = ['{"model":"m-1', '"'].map((part) => {
    reader.feed(Buffer.from(part));
    return reader.place?.model;
  });
  assert.deepEqual(models, [undefined, "m-1"]);
});

/** Pieces of bodies, valid and not, so that random sequences of them are often nearly valid. */
const PIECES = [
  '"model"',
  '"Model"',
  '"mod\\u0065l"',
  '"m"',
  '"a":',
  ":",
  ",",
  "{",
  "}",
  "[",
  "]",
  '"x"',
  "1",
  "-",
  "0",
  ".5",
  "e9",
  "true",
  "null",
  "NaN",
  " ",
  "\n",
  "\\",
  '"',
  "//",
  "\ufeff",
  "\u0000",
  "é",
];

test("of any bytes it reads a model only where JSON.parse reads the same, and no other name could be it", () => {
  const near = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 14 })
    .map((parts) => `{"model":"m",${parts.join("")}}`);
  const random = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((parts) => parts.join(""));
  const json = fc
    .dictionary(fc.constantFrom("model", "a", "MODEL", "b"), fc.json())
    .map((object) => JSON.stringify(object));
  fc.assert(
    fc.property(fc.oneof(near, random, json), fc.integer({ min: 1, max: 9 }), (body, pieceBytes) => {
      const found = read(body, pieceBytes);
      assert.equal(found, read(body));
      if (found.startsWith("<")) return;
      const parsed = JSON.parse(body) as Record<string, unknown>;
      assert.equal(parsed["model"], found);
      assert.deepEqual(
        Object.keys(parsed).filter((name) => name.toLowerCase() === "model"),
        ["model"],
      );
    }),
    { numRuns: 3000 },
  );
});
