import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { createStreamRedactor } from "../../../src/core/secrets/stream-redactor.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const VALUE = "sk-0123456789abcdef";
const secret = new Secret(VALUE);

test("does not show its value in any printed form", () => {
  const forms = [String(secret), JSON.stringify({ secret }), inspect(secret, { showHidden: true, depth: 9 })];
  for (const form of forms) assert.ok(!form.includes(VALUE), form);
  assert.equal(Object.keys(secret).length, 0);
});

test("redacts every occurrence in bytes, and keeps their length", () => {
  const bytes = Buffer.from(`a ${VALUE}${VALUE} b`);
  const before = bytes.length;
  secret.redactBytes(bytes);
  assert.equal(bytes.length, before);
  assert.equal(bytes.toString(), `a ${"*".repeat(2 * VALUE.length)} b`);
});

test("terminates when the asterisks of the redaction themselves contain the secret", () => {
  const text = `a ${"*".repeat(8)} b ${"*".repeat(9)} c`;
  const bytes = Buffer.from(text);
  new Secret("*".repeat(8)).redactBytes(bytes);
  assert.equal(bytes.toString(), text);
});

test("does not redact short values, which are placeholders", () => {
  for (const placeholder of ["x", "none", "tokens1"]) {
    const text = `text/${placeholder}`;
    assert.deepEqual(
      [new Secret(placeholder).redactText(text), new Secret(placeholder).isIn(text)],
      [text, false],
    );
  }
});

test("finds and redacts a key in the spellings of JSON and URLs", () => {
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
      const redactor = createStreamRedactor(base64);
      const pieces = spelling.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
      const out = [...pieces.map((piece) => Buffer.from(redactor.push(Buffer.from(piece)))), redactor.end()];
      assert.equal(Buffer.concat(out).toString(), "*".repeat(spelling.length));
    }
  }
});
