import assert from "node:assert/strict";
import * as fc from "fast-check";
import { blotData, createBlotter } from "../../src/core/blotter.ts";
import { Secret } from "../../src/core/secret.ts";
import { cutUp, piecing } from "./pieces.ts";
import { property, type Property } from "./property.ts";

/** Any key that can be stored, but for asterisks, which no vendor's has: they are what it is blotted out with. */
const key: fc.Arbitrary<string> = fc.stringMatching(/^[!-)+-~]{1,40}$/);

/** Text full of the key, of its beginnings and its ends, and of anything else. */
function textAround(value: string): fc.Arbitrary<string> {
  const part = fc.nat(value.length);
  return fc
    .array(
      fc.oneof(
        fc.constant(value),
        part.map((length) => value.slice(0, length)),
        part.map((from) => value.slice(from)),
        fc.string({ unit: "binary", maxLength: 8 }),
        fc.constantFrom("*", "\n", '"'),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(""));
}

const keyAndText = key.chain((value) => fc.tuple(fc.constant(value), textAround(value)));

function blotAll(value: string, chunks: Iterable<Buffer>): Buffer {
  const blotter = createBlotter(new Secret(value));
  const out: Buffer[] = [];
  for (const chunk of chunks) out.push(Buffer.from(blotter.push(chunk)));
  out.push(blotter.end());
  return Buffer.concat(out);
}

/** JSON data with these texts anywhere in it. */
function dataOf(text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.constantFrom(null, true, 7, -0.5),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(text, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
}

/** Every string and name in it. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return Object.entries(value).flatMap(([name, below]) => [name, ...textsIn(below)]);
}

export const BLOTTER: readonly Property[] = [
  property(
    "blotter: the key is gone and every other byte is in its place, however the text is pieced",
    { batch: 600 },
    fc.property(keyAndText, piecing, ([value, text], pieces) => {
      const body = Buffer.from(text);
      const expected = Buffer.from(text.replaceAll(value, "*".repeat(value.length)));
      assert.deepEqual(blotAll(value, cutUp(body, pieces)), expected);
      assert.ok(!expected.includes(value));
    }),
  ),
  property(
    "blotter: data keeps its shape and everything but the key",
    { batch: 300 },
    fc.property(
      key.chain((value) => fc.tuple(fc.constant(value), dataOf(textAround(value)))),
      ([value, data]) => {
        const blotted = blotData(data, new Secret(value));
        assert.ok(!textsIn(blotted).some((text) => text.includes(value)));
        if (!textsIn(data).some((text) => text.includes(value))) assert.deepEqual(blotted, data);
      },
    ),
  ),
];
