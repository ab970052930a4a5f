import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { sampleFromSchema } from "../../../src/sandbox/generation/schema-sample.ts";

const CASES: { what: string; schema: JsonObject; sample: unknown }[] = [
  { what: "a string", schema: { type: "string" }, sample: "sandbox" },
  { what: "a short string", schema: { type: "string", maxLength: 4 }, sample: "sand" },
  { what: "a long string", schema: { type: "string", minLength: 9 }, sample: "sandbox.." },
  { what: "a date", schema: { type: "string", format: "date" }, sample: "2026-01-01" },
  { what: "an enum", schema: { enum: ["a", "b"] }, sample: "a" },
  { what: "a constant", schema: { const: 7 }, sample: 7 },
  { what: "a default", schema: { type: "integer", default: 3 }, sample: 3 },
  { what: "an integer", schema: { type: "integer" }, sample: 1 },
  { what: "a bounded number", schema: { type: "number", minimum: 10 }, sample: 10 },
  { what: "a number below 1", schema: { type: "number", maximum: 0.5 }, sample: 0.5 },
  { what: "a boolean", schema: { type: "boolean" }, sample: false },
  { what: "a nullable string", schema: { type: ["string", "null"] }, sample: "sandbox" },
  { what: "an array", schema: { type: "array", items: { type: "string" } }, sample: [] },
  {
    what: "a filled array",
    schema: { type: "array", minItems: 2, items: { type: "integer" } },
    sample: [1, 1],
  },
  { what: "a choice", schema: { anyOf: [{ type: "integer" }, { type: "string" }] }, sample: 1 },
  {
    what: "all of several",
    schema: { allOf: [{ type: "object" }, { properties: { a: { const: 1 } }, required: ["a"] }] },
    sample: { a: 1 },
  },
  {
    what: "an object's required properties alone",
    schema: { properties: { a: { type: "string" }, b: { type: "string" } }, required: ["b"] },
    sample: { b: "sandbox" },
  },
  {
    what: "a reference",
    schema: {
      type: "object",
      properties: { step: { $ref: "#/$defs/Step" } },
      required: ["step"],
      $defs: { Step: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
    },
    sample: { step: { n: 1 } },
  },
  { what: "a reference to nothing", schema: { $ref: "#/$defs/Lost" }, sample: null },
];

for (const { what, schema, sample } of CASES) {
  test(`the sample of ${what} is ${JSON.stringify(sample)}`, () => {
    assert.deepEqual(sampleFromSchema(schema), sample);
  });
}

test("the sample of a recursive schema is finite", () => {
  const schema = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
  assert.match(JSON.stringify(sampleFromSchema(schema)), /null/);
});
