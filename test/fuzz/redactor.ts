import assert from "node:assert/strict";
import * as fc from "fast-check";
import { createStreamRedactor } from "../../src/core/secrets/stream-redactor.ts";
import { redactData } from "../../src/core/usage/redact-reading.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { splitIntoChunks, chunking } from "./chunking.ts";
import { anyKey, decodings, encodings, redactEscapes, redactSimply, type Encoding } from "./key-spellings.ts";
import { property, type Property } from "./property.ts";

/** A key that needs no escapes and is long enough to be a secret. */
const key: fc.Arbitrary<string> = fc.stringMatching(/^[\w.~-]{8,40}$/);

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

/** Fewer characters of a key are also found by chance. */
const PART_LENGTH = 8;

function redactAll(value: string, chunks: Iterable<Buffer>): Buffer {
  const redactor = createStreamRedactor(new Secret(value));
  const out: Buffer[] = [];
  for (const chunk of chunks) out.push(Buffer.from(redactor.push(chunk)));
  out.push(redactor.end());
  return Buffer.concat(out);
}

const encode = (text: string, steps: readonly Encoding[]) => steps.reduce((sofar, step) => step(sofar), text);

/** Keys without characters that begin an escape, and without quotes. All services' keys are among them. */
const plainKey = anyKey.filter((value) => !/[%&\\"]/.test(value));

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
function redactDataSimply(data: unknown, value: string): unknown {
  const redact = (text: string) => redactSimply(text, value);
  if (typeof data === "string") return redact(data);
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) return data.map((item) => redactDataSimply(item, value));
  return Object.fromEntries(
    Object.entries(data).map(([name, below]) => [redact(name), redactDataSimply(below, value)]),
  );
}

export const REDACTOR: readonly Property[] = [
  property(
    "redactor: the key is gone and every other byte is unchanged, however the text is divided into chunks",
    { batch: 600 },
    fc.property(keyAndText, chunking, ([value, text], chunks) => {
      const body = Buffer.from(text);
      const redacted = redactAll(value, splitIntoChunks(body, chunks)).toString("latin1");
      const expected = redactSimply(body.toString("latin1"), value);
      assert.equal(redactEscapes(redacted), redactEscapes(expected));
      assert.ok(!redacted.includes(value));
    }),
  ),
  property(
    "redactor: nothing decodes to a part of the key in two steps, however the text is divided into chunks",
    { batch: 300 },
    fc.property(anyKey, encodings, chunking, (value, steps, chunks) => {
      const body = Buffer.from(`{"message":"no such key: ${encode(value, steps)}!"}`, "latin1");
      const redacted = redactAll(value, splitIntoChunks(body, chunks)).toString("latin1");
      assert.equal(redacted.length, body.length);
      const decoded = decodings(redacted, 2);
      for (let at = 0; at + PART_LENGTH <= value.length; at += 1) {
        const part = value.slice(at, at + PART_LENGTH);
        if (!/^\*+$/.test(part)) assert.ok(!decoded.some((text) => text.includes(part)), redacted);
      }
    }),
  ),
  property(
    "redactor: a text in which one character of the key is another one is unchanged in every spelling",
    { batch: 300 },
    fc.property(plainKey, encodings, fc.nat(), fc.constantFrom("A", "9"), (value, steps, place, other) => {
      const at = 1 + (place % (value.length - 1));
      const changed = value.slice(0, at) + other + value.slice(at + 1);
      fc.pre(!changed.includes(value));
      const text = `{"message":"no such key: ${encode(changed, steps)}!"}`;
      if (decodings(text, 2).some((decoded) => decoded.includes(value))) return;
      assert.equal(new Secret(value).redactText(text), text);
    }),
  ),
  property(
    "redactor: JSON stays JSON, however it is divided into chunks",
    { batch: 300 },
    fc.property(plainKey, encodings, fc.string(), chunking, (value, steps, around, chunks) => {
      const spelling = encode(value, steps);
      const body = Buffer.from(JSON.stringify({ [spelling]: [around + spelling + around] }));
      assert.doesNotThrow(() => void JSON.parse(redactAll(value, splitIntoChunks(body, chunks)).toString()));
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
        assert.deepEqual(redacted, redactDataSimply(data, value));
      },
    ),
  ),
];
