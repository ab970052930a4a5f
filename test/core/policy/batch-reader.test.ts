import assert from "node:assert/strict";
import { test } from "node:test";
import { SizeReader } from "../../../src/core/budget/size-reader.ts";
import { BatchReader } from "../../../src/core/policy/batch-reader.ts";

/** Reads a body in pieces of this many bytes. Returns the models with their requests, or the fault in angle brackets. */
function read(body: string, pieceBytes = Infinity): string {
  const bytes = Buffer.from(body);
  const reader = new BatchReader(["*"]);
  const step = Math.min(pieceBytes, Math.max(1, bytes.length));
  for (let at = 0; at < bytes.length; at += step) reader.feed(bytes.subarray(at, at + step));
  const fault = reader.finish();
  if (fault !== null) return `<${fault}>`;
  return Array.from(reader.models, ([model, entry]) => `${model} ${entry}`).join(", ");
}

const batch = (...params: string[]) =>
  `{"requests":[${params.map((one, index) => `{"custom_id":"r-${index}","params":${one}}`).join()}]}`;

const READABLE: [what: string, body: string, models: string][] = [
  ["one request", batch('{"model":"a","max_tokens":1}'), "a 0"],
  ["the first request of each model", batch('{"model":"a"}', '{"model":"b"}', '{"model":"a"}'), "a 0, b 1"],
  [
    "params first, and white space",
    ' {\n"requests" : [ { "params" : { "model" : "a" } , "custom_id" : "x" } ] } ',
    "a 0",
  ],
  [
    "models deeper in params",
    batch(
      '{"metadata":{"model":1,"params":{},"requests":[]},"messages":[{"content":"{\\"model\\":\\"b\\"}"}],"model":"a"}',
    ),
    "a 0",
  ],
  ["a request without an id, which the service refuses", '{"requests":[{"params":{"model":"a"}}]}', "a 0"],
  [
    "models with escapes that all decoders know",
    batch('{"model":"a\\u002db"}', '{"model":"modèle"}'),
    "a-b 0, modèle 1",
  ],
];

const PARAMS = "the params of requests[1]: ";

const UNREADABLE: [what: string, body: string, fault: string][] = [
  ["no requests", "{}", "the batch has no requests"],
  ["an empty list", '{"requests":[]}', "the batch has no requests"],
  ["a list that is none", '{"requests":{"params":{"model":"a"}}}', '"requests" is not a list'],
  [
    "a second list",
    '{"requests":[{"params":{"model":"a"}}],"requests":[{"params":{"model":"b"}}]}',
    'the batch has two "requests"',
  ],
  [
    "a list in other letters",
    '{"requests":[{"params":{"model":"a"}}],"Requests":[]}',
    'the batch has a member besides "requests"',
  ],
  [
    "a list with an escape in its name",
    '{"request\\u0073":[{"params":{"model":"a"}}]}',
    'the batch has a member besides "requests"',
  ],
  [
    "a model beside the list",
    '{"model":"b","requests":[{"params":{"model":"a"}}]}',
    'the batch has a member besides "requests"',
  ],
  ["a request that is a list", '{"requests":[[{"model":"b"}]]}', "requests[0] is not an object"],
  ["a request that is a text", '{"requests":["{}"]}', "requests[0] is not an object"],
  ["a request without params", '{"requests":[{"custom_id":"a"}]}', 'requests[0] has no "params"'],
  [
    "second params",
    '{"requests":[{"params":{"model":"a"},"params":{"model":"b"}}]}',
    'requests[0] has two "params"',
  ],
  [
    "params in other letters",
    '{"requests":[{"params":{"model":"a"},"Params":{"model":"b"}}]}',
    'requests[0] has a member besides "custom_id" and "params"',
  ],
  [
    "a model beside params",
    '{"requests":[{"model":"b","params":{"model":"a"}}]}',
    'requests[0] has a member besides "custom_id" and "params"',
  ],
  [
    "a request as OpenAI's batches have it",
    '{"requests":[{"custom_id":"a","body":{"model":"b"}}]}',
    'requests[0] has a member besides "custom_id" and "params"',
  ],
  [
    "a name of a kilobyte",
    `{"requests":[{"${"p".repeat(1000)}":{"model":"b"},"params":{"model":"a"}}]}`,
    'requests[0] has a member besides "custom_id" and "params"',
  ],
  [
    "params that are a list",
    '{"requests":[{"params":[{"model":"a"}]}]}',
    '"params" of requests[0] is of the wrong type',
  ],
  [
    "params that are a text",
    '{"requests":[{"params":"{\\"model\\":\\"a\\"}"}]}',
    '"params" of requests[0] is of the wrong type',
  ],
  [
    "an id with a request in it",
    '{"requests":[{"custom_id":{"model":"b"},"params":{"model":"a"}}]}',
    '"custom_id" of requests[0] is of the wrong type',
  ],
  ["a request without a model", batch('{"model":"a"}', "{}"), `${PARAMS}the body names no model`],
  ["two models", batch('{"model":"a"}', '{"model":"a","model":"b"}'), `${PARAMS}the body names two models`],
  [
    "a second model that is escaped",
    batch('{"model":"a"}', '{"model":"a","mod\\u0065l":"b"}'),
    `${PARAMS}a member's name is another spelling of "model"`,
  ],
  [
    "a model in capitals, late",
    batch('{"model":"a"}', `{"model":"a","system":"${"x".repeat(300)}","MODEL":"b"}`),
    `${PARAMS}a member's name is another spelling of "model"`,
  ],
  ["a list of models", batch('{"model":"a"}', '{"model":["a","b"]}'), `${PARAMS}the model is not a string`],
  [
    "further models to choose from",
    batch('{"model":"a"}', '{"model":"a","fallbacks":["b"]}'),
    `${PARAMS}"fallbacks" may name other models`,
  ],
  [
    "half a pair of surrogates",
    batch('{"model":"a"}', '{"model":"a\\ud83d"}'),
    `${PARAMS}the model's name cannot be read`,
  ],
  ["a comment in a request", batch('{"model":"a"/*,"model":"b"*/}'), "the body is not valid JSON"],
  ["a comma at the end", '{"requests":[{"params":{"model":"a"}},]}', "requests[1] is not an object"],
  ["a second object", `${batch('{"model":"a"}')}{"requests":[]}`, "something follows the JSON object"],
  [
    "lines of requests",
    '{"custom_id":"a","params":{"model":"a"}}\n',
    'the batch has a member besides "requests"',
  ],
  ["a list at the top", '[{"params":{"model":"a"}}]', "the body is not a JSON object"],
  ["a body that is cut", batch('{"model":"a"}').slice(0, -1), "the body is not complete JSON"],
  ["nothing", "", "the body is not complete JSON"],
  [
    "more models than are kept",
    batch(...Array.from({ length: 101 }, (_, n) => `{"model":"m-${n}"}`)),
    "the batch names more than 100 models",
  ],
];

for (const [what, body, expected] of READABLE)
  test(`reads ${what}, in any chunking`, () => {
    for (const bytes of [Infinity, 1, 2, 3, 7, 50]) assert.equal(read(body, bytes), expected);
  });

for (const [what, body, fault] of UNREADABLE)
  test(`finds fault with ${what}, in any chunking`, () => {
    for (const bytes of [Infinity, 1, 2, 3, 7, 50]) assert.equal(read(body, bytes), `<${fault}>`);
  });

test("reads the same wherever a batch is cut in two", () => {
  const body = batch('{"model":"a","messages":[{"content":"é \\" }]"}]}', '{"max_tokens":1e3,"model":"b"}');
  const bytes = Buffer.from(body);
  for (let at = 0; at <= bytes.length; at += 1) {
    const reader = new BatchReader(["*"]);
    reader.feed(bytes.subarray(0, at));
    reader.feed(bytes.subarray(at));
    assert.deepEqual([reader.finish(), ...reader.models], [null, ["a", 0], ["b", 1]]);
  }
});

function sizeOf(body: string) {
  const reader = new BatchReader(["*"]);
  reader.feed(Buffer.from(body));
  assert.equal(reader.finish(), null);
  return reader.size;
}

function sizeOfMessage(params: string) {
  const reader = new SizeReader();
  reader.feed(Buffer.from(params));
  return reader.size;
}

const prompt = (bytes: number, more = "") => `{"model":"a","system":"${"x".repeat(bytes)}"${more}}`;

test("a batch may spend what all of its requests may, each by its own size", () => {
  const all = [
    '{"model":"a","max_tokens":100,"messages":[]}',
    '{"model":"a","messages":[]}',
    `{"model":"b","max_tokens":7,"system":"${"x".repeat(9_000)}"}`,
    '{"model":"a","max_tokens":100,"inference_geo":"us"}',
    '{"model":"a","max_tokens":"300","system":[{"text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}',
  ];
  const size = sizeOf(batch(...all));
  const sizes = all.map(sizeOfMessage);
  const sum = (name: "input" | "output") => sizes.reduce((total, one) => total + one[name], 0);
  assert.deepEqual([size.input, size.output], [sum("input"), sum("output")]);
  assert.deepEqual([size.tier, size.geo, size.speed, size.cachesLong], ["batch", "us", null, true]);
  assert.deepEqual(
    size.parts?.map(({ model, output, longest, geo, cachesLong }) => [
      model,
      output,
      longest,
      geo,
      cachesLong,
    ]),
    [
      ["a", 100, sizes[0]?.input, null, false],
      ["a", 4_096, sizes[1]?.input, null, false],
      ["b", 7, sizes[2]?.input, null, false],
      ["a", 100, sizes[3]?.input, "us", false],
      ["a", 300, sizes[4]?.input, null, true],
    ],
  );
});

test("long and short prompts of a batch are told apart, and a batch has not too many kinds of requests", () => {
  assert.equal(sizeOf(batch(prompt(4_000), prompt(4_100), prompt(300_000))).parts?.length, 2);
  const kinds = Array.from({ length: 1_001 }, (_, n) => prompt(10, `,"speed":"s-${n}"`));
  assert.equal(read(batch(...kinds)), "<the batch has more than 1000 kinds of requests>");
});
