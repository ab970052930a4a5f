import assert from "node:assert/strict";
import * as fc from "fast-check";
import { createRequestScanner } from "../../src/core/usage/request-scanner.ts";
import { trickyText } from "./tricky-text.ts";
import { damages, applyDamage } from "./damage.ts";
import { splitIntoChunks, chunking } from "./chunking.ts";
import { property, type Property } from "./property.ts";

function scanAll(chunks: Iterable<Buffer>): unknown[] {
  const scan = createRequestScanner();
  for (const chunk of chunks) scan.feed(chunk);
  return [scan.model, scan.stream, scan.background];
}

/** Member names in the spellings that JSON allows. */
const name = fc.oneof(
  fc.constantFrom(
    '"model"',
    '"stream"',
    '"background"',
    '"mod\\u0065l"',
    '"\\u0073tream"',
    '"Model"',
    '"__proto__"',
  ),
  fc.string().map((text) => JSON.stringify(text)),
);

/** Values, including decoys at a deeper level. A model's name is kept up to a kilobyte. */
const value = fc.oneof(
  fc.constantFrom(
    "true",
    "false",
    "null",
    '"true"',
    '"gpt-5"',
    '{"model":"decoy","stream":true}',
    '[{"model":1}]',
  ),
  trickyText.map((text) => JSON.stringify(text)),
  fc.json(),
);

const space = fc.constantFrom("", " ", "\n", "\r\n\t ");

/** The text of an object, with members in any order and some of them twice. */
const document = fc.array(fc.tuple(space, name, space, value, space), { maxLength: 6 }).map((members) => {
  const texts = members.map(
    ([before, member, between, text, after]) => `${before}${member}${between}:${text}${after}`,
  );
  return `{${texts.join(",")}}`;
});

export const REQUEST_SCAN: readonly Property[] = [
  property(
    "request scanner: model, stream and background are those of JSON.parse, however the request is divided into chunks",
    { batch: 600 },
    fc.property(document, chunking, (text, chunks) => {
      const parsed = JSON.parse(text) as Record<string, unknown>;
      const own = (wanted: string) => (Object.hasOwn(parsed, wanted) ? parsed[wanted] : null);
      const [model, stream, background] = ["model", "stream", "background"].map(own);
      const expected = [
        typeof model === "string" ? model : null,
        typeof stream === "boolean" ? stream : null,
        typeof background === "boolean" ? background : null,
      ];
      assert.deepEqual(scanAll(splitIntoChunks(Buffer.from(text), chunks)), expected);
    }),
  ),
  property(
    "request scanner: the result for a damaged request does not depend on its chunks",
    { batch: 300 },
    fc.property(document, damages, chunking, (text, damage, chunks) => {
      const body = applyDamage(Buffer.from(text), damage, Buffer.from(text));
      assert.deepEqual(scanAll(splitIntoChunks(body, chunks)), scanAll([body]));
    }),
  ),
];
