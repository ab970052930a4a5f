import assert from "node:assert/strict";
import { test } from "node:test";
import { createStreamRedactor } from "../../../src/core/secrets/stream-redactor.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const VALUE = "sk-0123456789abcdef";
const secret = new Secret(VALUE);

test("redacts a key in a stream, however it is split into chunks", () => {
  const body = Buffer.from(`{"error":"you sent ${VALUE}, and ${VALUE}"}`);
  for (let size = 1; size <= body.length; size += 1) {
    const redactor = createStreamRedactor(secret);
    const out: Buffer[] = [];
    for (let at = 0; at < body.length; at += size)
      out.push(redactor.push(Buffer.from(body.subarray(at, at + size))));
    out.push(redactor.end());
    const text = Buffer.concat(out).toString();
    assert.equal(text.length, body.length, `pieces of ${size}`);
    assert.ok(!text.includes(VALUE), `pieces of ${size}: ${text}`);
  }
});
