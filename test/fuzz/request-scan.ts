import assert from "node:assert/strict";
import * as fc from "fast-check";
import { createRequestScan } from "../../src/core/usage/request-scan.ts";
import { awkwardText } from "./awkward.ts";
import { damages, inflict } from "./damage.ts";
import { cutUp, piecing } from "./pieces.ts";
import { property, type Property } from "./property.ts";

function scanAll(chunks: Iterable<Buffer>): unknown[] {
  const scan = createRequestScan();
  for (const chunk of chunks) scan.feed(chunk);
  return [scan.model, scan.stream, scan.background];
}

/** Names as JSON may write them. */
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

/** Decoys further down included; a model's name is kept up to a kilobyte. */
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
  awkwardText.map((text) => JSON.stringify(text)),
  fc.json(),
);

const space = fc.constantFrom("", " ", "\n", "\r\n\t ");

/** An object's text, its members in any order and some of them twice. */
const document = fc.array(fc.tuple(space, name, space, value, space), { maxLength: 6 }).map((members) => {
  const texts = members.map(
    ([before, member, between, text, after]) => `${before}${member}${between}:${text}${after}`,
  );
  return `{${texts.join(",")}}`;
});

export const REQUEST_SCAN: readonly Property[] = [
  property(
    "request scan: a request's model, stream and background are those of JSON.parse, however it is pieced",
    { batch: 600 },
    fc.property(document, piecing, (text, pieces) => {
      const parsed = JSON.parse(text) as Record<string, unknown>;
      const own = (wanted: string) => (Object.hasOwn(parsed, wanted) ? parsed[wanted] : null);
      const [model, stream, background] = ["model", "stream", "background"].map(own);
      const expected = [
        typeof model === "string" ? model : null,
        typeof stream === "boolean" ? stream : null,
        typeof background === "boolean" ? background : null,
      ];
      assert.deepEqual(scanAll(cutUp(Buffer.from(text), pieces)), expected);
    }),
  ),
  property(
    "request scan: a damaged request is read the same however it is pieced",
    { batch: 300 },
    fc.property(document, damages, piecing, (text, damage, pieces) => {
      const body = inflict(Buffer.from(text), damage, Buffer.from(text));
      assert.deepEqual(scanAll(cutUp(body, pieces)), scanAll([body]));
    }),
  ),
];
