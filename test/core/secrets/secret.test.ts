import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { redactData, redactReading, createRedactor } from "../../../src/core/secrets/redactor.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { nothingLearned } from "../../../src/core/usage/dialect.ts";
import type { Reading } from "../../../src/core/usage/reading.ts";
import { extraTokens } from "../../helpers/ledger/usage-record.ts";

const VALUE = "sk-0123456789abcdef";
const secret = new Secret(VALUE);

test("no way of printing shows the value", () => {
  const forms = [String(secret), JSON.stringify({ secret }), inspect(secret, { showHidden: true, depth: 9 })];
  for (const form of forms) assert.ok(!form.includes(VALUE), form);
  assert.equal(Object.keys(secret).length, 0);
});

test("blotting keeps the length and leaves no occurrence", () => {
  const bytes = Buffer.from(`a ${VALUE}${VALUE} b`);
  const before = bytes.length;
  secret.redactBytes(bytes);
  assert.equal(bytes.length, before);
  assert.equal(bytes.toString(), `a ${"*".repeat(2 * VALUE.length)} b`);
});

test("a key is found in a stream however it is cut", () => {
  const body = Buffer.from(`{"error":"you sent ${VALUE}, and ${VALUE}"}`);
  for (let size = 1; size <= body.length; size += 1) {
    const blotter = createRedactor(secret);
    const out: Buffer[] = [];
    for (let at = 0; at < body.length; at += size)
      out.push(blotter.push(Buffer.from(body.subarray(at, at + size))));
    out.push(blotter.end());
    const text = Buffer.concat(out).toString();
    assert.equal(text.length, body.length, `pieces of ${size}`);
    assert.ok(!text.includes(VALUE), `pieces of ${size}: ${text}`);
  }
});

test("a key that its own asterisks contain is blotted once, and no search goes on for ever", () => {
  const text = `a ${"*".repeat(8)} b ${"*".repeat(9)} c`;
  const bytes = Buffer.from(text);
  new Secret("*".repeat(8)).redactBytes(bytes);
  assert.equal(bytes.toString(), text);
});

test("a placeholder is no secret, and is left where it stands", () => {
  for (const placeholder of ["x", "none", "tokens1"]) {
    const text = `text/${placeholder}`;
    assert.deepEqual(
      [new Secret(placeholder).redactText(text), new Secret(placeholder).isIn(text)],
      [text, false],
    );
  }
});

test("a key is found as writers of JSON and URLs spell it", () => {
  const base64 = new Secret('ab/cd+ef"12==');
  const spellings = [
    'ab/cd+ef"12==',
    'ab\\/cd+ef\\"12==',
    "ab/cd\\u002Bef\\u002212==",
    "ab/cd\\u002bef\\u002212\\u003d\\u003D",
    "ab%2Fcd%2Bef%2212%3D%3D",
    "ab%2fcd%2bef%2212==",
  ];
  for (const spelling of spellings) {
    assert.ok(base64.isIn(`x${spelling}y`), spelling);
    assert.equal(base64.redactText(`x${spelling}y`), `x${"*".repeat(spelling.length)}y`);
    for (let size = 1; size < 12; size += 1) {
      const blotter = createRedactor(base64);
      const pieces = spelling.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
      const out = [...pieces.map((piece) => Buffer.from(blotter.push(Buffer.from(piece)))), blotter.end()];
      assert.equal(Buffer.concat(out).toString(), "*".repeat(spelling.length));
    }
  }
});

test("data is blotted in its strings and names; a key that looks like a count leaves the counts alone", () => {
  const data = { model: "12345678", usage: { input: 123_456_789, "12345678": ["x12345678"] }, none: null };
  assert.deepEqual(redactData(data, new Secret("12345678")), {
    model: "********",
    usage: { input: 123_456_789, "********": ["x********"] },
    none: null,
  });
});

test("a reading is blotted where it repeats the upstream, and not in our own words", () => {
  const reading: Reading = {
    ...nothingLearned("completed", "final"),
    spend: "count",
    model: "completed",
    raw_usage: { completed: "in completed" },
    extra: [{ ...extraTokens({ type: "completed", model: "completed", billable: true }) }],
    server_tools: { completed: 1 },
  };
  const blotted = redactReading(reading, new Secret("completed"));
  const stars = "*".repeat(9);
  assert.deepEqual(blotted, {
    ...reading,
    model: stars,
    raw_usage: { [stars]: `in ${stars}` },
    extra: [{ ...extraTokens({ type: stars, model: stars, billable: true }) }],
    server_tools: { [stars]: 1 },
  });
});
