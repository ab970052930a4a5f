import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { readLiveMessage, replaceSetupModel } from "../../../src/core/websocket/live-message.ts";

const read = (text: string) => readLiveMessage([Buffer.from(text)]);
const setup = (model: string) => JSON.stringify({ setup: { model } });

for (const [resource, model] of [
  ["models/gemini-3.8-live", "gemini-3.8-live"],
  ["gemini-3.8-live", "gemini-3.8-live"],
  ["tunedModels/mine", "tunedModels/mine"],
  ["publishers/google/models/gemini-live-2.5-flash", "gemini-live-2.5-flash"],
  ["projects/p/locations/us-central1/publishers/google/models/gemini-live", "gemini-live"],
  ["projects/p/locations/us-central1/endpoints/123", "endpoints/123"],
] as const)
  test(`a setup with ${resource} asks for ${model}`, () => {
    const { fault, setup: found, endsUserTurn } = read(setup(resource));
    assert.deepEqual([fault, found?.model, endsUserTurn], [null, model, false]);
  });

for (const resource of [
  "",
  "models/",
  "models/a/b",
  "models/a%2eb",
  "models/a:generateContent",
  "../a",
  "a b",
])
  test(`a setup with ${JSON.stringify(resource)} cannot be read`, () => {
    assert.equal(read(setup(resource)).fault, "the model's name cannot be read");
  });

for (const [text, fault] of [
  ['{"setup":{}}', "the setup names no model"],
  ['{"setup":[]}', "the setup is not an object"],
  ['{"setup":{"model":1}}', "the model is not a string"],
  ['{"setup":{"model":"a","model":"a"}}', "the setup names two models"],
  ['{"setup":{"model":"a"},"setup":{"model":"a"}}', "the message has two setups"],
  ['{"Setup":{"model":"a"}}', `a member's name is another spelling of "setup"`],
  ['{"setup":{"model":"a","mod_el":"b"}}', `a member's name is another spelling of "model"`],
  ['{"realtimeInput":{},"setup":{"model":"a"}}', "the setup is not the only member of its message"],
  ['{"realtimeInput":{', "the message is not complete JSON"],
  ["[]", "the body is not a JSON object"],
  ["{} {}", "something follows the JSON object"],
] as const)
  test(`${text} is at fault: ${fault}`, () => {
    assert.equal(read(text).fault, fault);
  });

for (const [text, endsUserTurn] of [
  ['{"clientContent":{"turns":[],"turnComplete":true}}', true],
  ['{"client_content":{"turns":[],"turn_complete":true}}', true],
  ['{"clientContent":{"turnComplete":true,"turnComplete":false}}', true],
  ['{"clientContent":{"turnComplete":false}}', false],
  ['{"clientContent":{"turns":[]}}', false],
  ['{"realtimeInput":{"audio":{"data":"AAAA","turnComplete":true}}}', false],
  ['{"toolResponse":{"functionResponses":[{"response":{"turnComplete":true}}]}}', false],
] as const)
  test(`${text} ${endsUserTurn ? "asks" : "does not ask"} for a turn`, () => {
    const answersTools = text.startsWith('{"toolResponse"');
    assert.deepEqual(read(text), { fault: null, setup: null, endsUserTurn, answersTools });
  });

for (const name of ["toolResponse", "tool_response", String.raw`tool\u0052esponse`])
  test(`${name} has the results of tools`, () => {
    assert.equal(read(`{"${name}":{"functionResponses":[]}}`).answersTools, true);
    assert.equal(read(`{"realtimeInput":{"${name}":{}}}`).answersTools, false);
  });

test("a message reads the same, however it is cut", () => {
  const text = '{"setup":{"tools":[{"model":"other"}],"model":"models/gemini-3.8-live","x":"é"}}';
  const bytes = Buffer.from(text);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 5 }), (cuts) => {
      const ends = [...cuts.toSorted((one, other) => one - other), bytes.length];
      const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
      assert.deepEqual(readLiveMessage(pieces), read(text));
    }),
  );
});

test("an alias takes the place of the model, in the resource that the client has written", () => {
  for (const [resource, expected] of [
    ["models/old", "models/new"],
    ["old", "models/new"],
    [
      "projects/p/locations/l/publishers/google/models/old",
      "projects/p/locations/l/publishers/google/models/new",
    ],
  ] as const) {
    const text = `{ "setup": { "a": "é", "model": "${resource}", "b": 1 } }`;
    const { setup: found } = read(text);
    assert.ok(found);
    assert.equal(
      replaceSetupModel(Buffer.from(text), found, "new")?.toString(),
      text.replace(`"${resource}"`, `"${expected}"`),
    );
    assert.equal(replaceSetupModel(Buffer.from(text), found, "a/b"), null);
  }
});
