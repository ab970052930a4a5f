import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { CanonicalBody } from "../../../src/core/policy/canonical-body.ts";

/** The members that are left, from a body in chunks of this many bytes. */
function canonical(body: string, chunkBytes = Infinity): Record<string, string> {
  const members: Record<string, string> = {};
  const reader = new CanonicalBody(
    (name, bytes) => (members[name] = (members[name] ?? "") + bytes.toString()),
  );
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.feed(bytes.subarray(at, at + chunkBytes));
  return members;
}

const PLAIN = `{"model":"m","messages":[{"role":"user","content":"fix it"}]}`;

test("what a model reads is left, whatever surrounds it", () => {
  const expected = { model: '"m"', messages: '[{"role":"user","content":"fixit"}]' };
  for (const body of [
    PLAIN,
    `{ "model" : "m",\n\t"messages":[ {"role":"user","content":"fix it "} ] }`,
    `{"messages":[{"role":"user","content":"fix\\n it"}],"model":"m"}`,
    String.raw`{"model":"\u006d","messages":[{"role":"user","content":"fi\u0078\u0020it"}]}`,
    `{"metadata":{"messages":"x","n":[1,{"model":"y"}]},"model":"m","messages":[{"role":"user","content":"fix it"}],"seed":7}`,
    `{"stream":true,"model":"m","user":"a,b:c{d","messages":[{"role":"user","content":"fix it"}]}`,
    `${PLAIN.slice(0, -1)},"me\\u0073sages":"other"}`.replace("me\\u0073sages", "note"),
  ])
    for (const chunkBytes of [1, 2, 7, Infinity])
      assert.deepEqual(canonical(body, chunkBytes), expected, `${body} in chunks of ${chunkBytes}`);
});

test("another text, model, system prompt or chain is another question", () => {
  const seen = [
    PLAIN,
    PLAIN.replace("fix it", "fix them"),
    PLAIN.replace('"m"', '"n"'),
    PLAIN.replace("{", '{"system":"s",'),
    PLAIN.replace("{", '{"previous_response_id":"resp_1",'),
    PLAIN.replace("{", '{"conversation":"conv_1",'),
    PLAIN.replace("{", '{"query":"q",'),
    PLAIN.replace("{", '{"instances":[{"prompt":"p"}],'),
    PLAIN.replace("{", '{"cachedContent":"cachedContents/c",'),
    PLAIN.replace("{", '{"clientContent":{"turns":[]},'),
    PLAIN.replace("fix it", String.raw`fix \"it\"`),
    PLAIN.replace("fix it", "fix ïit"),
  ].map((body) => JSON.stringify(canonical(body)));
  assert.equal(new Set(seen).size, seen.length);
});

test("a body that is no JSON object stays as it is", () => {
  for (const body of ["[1, 2]", "a b", "(\u00b5/\u00fd"]) assert.deepEqual(canonical(body), { "": body });
  assert.deepEqual(canonical(""), {});
});

/** A value as JSON without white space, which may be escaped. */
const strip = (part: unknown) =>
  JSON.stringify(part)
    .replaceAll(/\\(u00..|.)/g, (whole, escape: string) => (/^[nrtfbu]/.test(escape) ? "" : whole))
    .replaceAll(/[ \t\n\v\f\r]/g, "")
    .replaceAll("\\u007f", "\u007f");

test("what is left of any JSON object is what its members are without white space, in any chunking", () => {
  fc.assert(
    fc.property(
      fc.record({ messages: fc.jsonValue(), input: fc.jsonValue(), other: fc.jsonValue() }),
      fc.integer({ min: 1, max: 9 }),
      (value, chunkBytes) => {
        const { messages, input } = canonical(JSON.stringify(value, null, 1), chunkBytes);
        assert.deepEqual([messages, input], [strip(value.messages), strip(value.input)]);
      },
    ),
    { numRuns: 300 },
  );
});
