import assert from "node:assert/strict";
import * as fc from "fast-check";
import { redactData, createRedactor } from "../../src/core/secrets/redactor.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { cutUp, piecing } from "./pieces.ts";
import { property, type Property } from "./property.ts";

/** A key that has one spelling, and is long enough to be a secret. */
const key: fc.Arbitrary<string> = fc.stringMatching(/^[\w.~-]{8,40}$/);

/**
 * A key and one of its spellings. Without asterisks, which it is blotted out with, and what begins an escape, where a piece
 * may end before one can tell; no vendor's has them.
 */
const keyAndSpelling = fc
  .array(fc.tuple(fc.stringMatching(/^[!-$&-)+-[\]-~]$/), fc.nat(3)), { minLength: 8, maxLength: 20 })
  .map((parts) => ({
    value: parts.map(([char]) => char).join(""),
    spelling: parts.map(([char, way]) => spell(char, way)).join(""),
  }));

/** As JSON or a URL may have it; letters, digits and their like as they are. */
function spell(char: string, way: number): string {
  const hex = char.charCodeAt(0).toString(16);
  if (/[\w.~-]/.test(char)) return char;
  return [char, `\\${char}`, `\\u00${hex.toUpperCase()}`, `%${hex}`][way] ?? char;
}

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
  const blotter = createRedactor(new Secret(value));
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

/** The data with the key taken out of every string and name, one by one. */
function blotPlainly(data: unknown, value: string): unknown {
  const blot = (text: string) => text.replaceAll(value, "*".repeat(value.length));
  if (typeof data === "string") return blot(data);
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) return data.map((item) => blotPlainly(item, value));
  return Object.fromEntries(
    Object.entries(data).map(([name, below]) => [blot(name), blotPlainly(below, value)]),
  );
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
    "blotter: a key is gone in every spelling, however the text is pieced",
    { batch: 600 },
    fc.property(keyAndSpelling, piecing, ({ value, spelling }, pieces) => {
      const blotted = blotAll(value, cutUp(Buffer.from(`x${spelling}y`), pieces)).toString("latin1");
      assert.equal(blotted, `x${"*".repeat(spelling.length)}y`);
    }),
  ),
  property(
    "blotter: data keeps its shape and everything but the key",
    { batch: 300 },
    fc.property(
      key.chain((value) => fc.tuple(fc.constant(value), dataOf(textAround(value)))),
      ([value, data]) => {
        const blotted = redactData(data, new Secret(value));
        assert.ok(!textsIn(blotted).some((text) => text.includes(value)));
        assert.deepEqual(blotted, blotPlainly(data, value));
      },
    ),
  ),
];
