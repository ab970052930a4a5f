import assert from "node:assert/strict";
import * as fc from "fast-check";
import { createStreamRedactor } from "../../src/core/secrets/stream-redactor.ts";
import { redactData } from "../../src/core/usage/redact-reading.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { splitIntoChunks, chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";

/** A key that needs no escapes and is long enough to be a secret. */
const key: fc.Arbitrary<string> = fc.stringMatching(/^[\w.~-]{8,40}$/);

/**
 * A key and one of its spellings. It has no asterisks, which replace it, and no characters that begin an escape, because a chunk
 * may end before the escape is recognisable. No vendor's keys have them.
 */
const keyAndSpelling = fc
  .array(fc.tuple(fc.stringMatching(/^[!-$&-)+-[\]-~]$/), fc.nat(3)), { minLength: 8, maxLength: 20 })
  .map((parts) => ({
    value: parts.map(([char]) => char).join(""),
    spelling: parts.map(([char, way]) => spell(char, way)).join(""),
  }));

/** Spells a character as JSON or a URL may; letters, digits and unreserved marks stay as they are. */
function spell(char: string, way: number): string {
  const hex = char.charCodeAt(0).toString(16);
  if (/[\w.~-]/.test(char)) return char;
  return [char, `\\${char}`, `\\u00${hex.toUpperCase()}`, `%${hex}`][way] ?? char;
}

/** Text full of the key, of parts of it, and of anything else. */
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

function redactAll(value: string, chunks: Iterable<Buffer>): Buffer {
  const redactor = createStreamRedactor(new Secret(value));
  const out: Buffer[] = [];
  for (const chunk of chunks) out.push(Buffer.from(redactor.push(chunk)));
  out.push(redactor.end());
  return Buffer.concat(out);
}

/** JSON data that has these texts as strings and names. */
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

/** Every string and name in the data. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return Object.entries(value).flatMap(([name, below]) => [name, ...textsIn(below)]);
}

/** Redacts the key in every string and name in the simplest way. */
function redactPlainly(data: unknown, value: string): unknown {
  const redact = (text: string) => text.replaceAll(value, "*".repeat(value.length));
  if (typeof data === "string") return redact(data);
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) return data.map((item) => redactPlainly(item, value));
  return Object.fromEntries(
    Object.entries(data).map(([name, below]) => [redact(name), redactPlainly(below, value)]),
  );
}

export const REDACTOR: readonly Property[] = [
  property(
    "redactor: the key is gone and every other byte is unchanged, however the text is divided into chunks",
    { batch: 600 },
    fc.property(keyAndText, chunking, ([value, text], chunks) => {
      const body = Buffer.from(text);
      const expected = Buffer.from(text.replaceAll(value, "*".repeat(value.length)));
      assert.deepEqual(redactAll(value, splitIntoChunks(body, chunks)), expected);
      assert.ok(!expected.includes(value));
    }),
  ),
  property(
    "redactor: the key is gone in every spelling, however the text is divided into chunks",
    { batch: 600 },
    fc.property(keyAndSpelling, chunking, ({ value, spelling }, chunks) => {
      const redacted = redactAll(value, splitIntoChunks(Buffer.from(`x${spelling}y`), chunks)).toString(
        "latin1",
      );
      assert.equal(redacted, `x${"*".repeat(spelling.length)}y`);
    }),
  ),
  property(
    "redactor: data keeps its structure and everything except the key",
    { batch: 300 },
    fc.property(
      key.chain((value) => fc.tuple(fc.constant(value), dataOf(textAround(value)))),
      ([value, data]) => {
        const redacted = redactData(data, new Secret(value));
        assert.ok(!textsIn(redacted).some((text) => text.includes(value)));
        assert.deepEqual(redacted, redactPlainly(data, value));
      },
    ),
  ),
];
