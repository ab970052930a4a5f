import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensPerSecond } from "../../../../src/core/ledger/times/tokens-per-second.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const speed = (changes: Partial<UsageRecord>) =>
  tokensPerSecond(
    usageRecord({ tokens: tokens({ output: 101 }), ttft_ms: 500, duration_ms: 2500, ...changes }),
  );

test("a speed is the output after the first token by the time that it took", () => {
  assert.equal(speed({}), 50);
  assert.equal(speed({ duration_ms: 1500 }), 100);
});

test("nothing is said of a few tokens, of what came within a moment, and of what is not known", () => {
  assert.equal(speed({ duration_ms: 1499 }), null);
  assert.equal(speed({ duration_ms: 500 }), null);
  // A clock that counts in milliseconds may see all of it in the same one.
  assert.equal(speed({ duration_ms: 500.1 }), null);
  assert.equal(speed({ tokens: tokens({ output: 19 }) }), null);
  assert.equal(speed({ tokens: tokens({ output: 20 }) }), 9.5);
  assert.equal(speed({ tokens: null, usage: "absent" }), null);
  assert.equal(speed({ usage: "partial" }), null);
  assert.equal(speed({ stream: false }), null);
  assert.equal(speed({ ttft_ms: null }), null);
});
