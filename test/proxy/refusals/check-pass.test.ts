import assert from "node:assert/strict";
import { test } from "node:test";
import { CheckPass } from "../../../src/proxy/refusals/check-pass.ts";
import { ManualClock } from "../../helpers/gate/memory.ts";

test("a pass is for the requests of one check: those of half a minute, sixteen at most, and no other pass", () => {
  const clock = new ManualClock();
  const passes = new CheckPass(clock);
  assert.equal(passes.counts(undefined), false);
  assert.equal(passes.counts(""), false);
  const first = passes.issue();
  assert.match(first, /^[0-9a-f]{32}$/);
  assert.equal(passes.counts("0".repeat(32)), false);
  for (let i = 0; i < 16; i += 1) assert.equal(passes.counts(first), true);
  assert.equal(passes.counts(first), false);
  const second = passes.issue();
  assert.equal(passes.counts(first), false);
  assert.equal(passes.counts(second), true);
  assert.equal(passes.refused, 17);
  clock.advance(31_000);
  assert.equal(passes.counts(second), false);
});
