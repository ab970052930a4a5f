import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { blotData, createBlotter } from "../../src/core/blotter.ts";
import { Secret } from "../../src/core/secret.ts";

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
  secret.blot(bytes);
  assert.equal(bytes.length, before);
  assert.equal(bytes.toString(), `a ${"*".repeat(2 * VALUE.length)} b`);
});

test("a key is found in a stream however it is cut", () => {
  const body = Buffer.from(`{"error":"you sent ${VALUE}, and ${VALUE}"}`);
  for (let size = 1; size <= body.length; size += 1) {
    const blotter = createBlotter(secret);
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
  const bytes = Buffer.from("a ** b *** c");
  new Secret("**").blot(bytes);
  assert.equal(bytes.toString(), "a ** b *** c");
});

test("data is blotted in its strings and names; a key that looks like a count leaves the counts alone", () => {
  const data = { model: "1234", usage: { input: 12_345, "1234": ["x1234"] }, none: null };
  assert.deepEqual(blotData(data, new Secret("1234")), {
    model: "****",
    usage: { input: 12_345, "****": ["x****"] },
    none: null,
  });
});
