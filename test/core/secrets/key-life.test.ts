import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { backOffMs, lifeOf } from "../../../src/core/secrets/key-life.ts";
import type { KeySource } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const command = (ttlMs?: number): KeySource =>
  ttlMs === undefined ? { kind: "command", argv: ["x"] } : { kind: "command", argv: ["x"], ttlMs };

const expiry = (stated: number | null, source: KeySource) =>
  lifeOf(new Secret("k", stated), source, 1_000).expiresAt;

test("the earlier of the stated time and the ttl counts, and a key with neither does not expire", () => {
  assert.equal(expiry(null, command()), Infinity);
  assert.equal(expiry(null, { kind: "keychain" }), Infinity);
  assert.equal(expiry(5_000, command()), 5_000);
  assert.equal(expiry(5_000, command(3_000)), 4_000);
  assert.equal(expiry(3_500, command(3_000)), 3_500);
});

test("a key is refreshed between 75 and 80 % of its life", () => {
  fc.assert(
    fc.property(fc.nat(1e12), fc.integer({ min: 1_000, max: 1e11 }), (readAt, life) => {
      const { refreshAt, expiresAt } = lifeOf(new Secret("k", readAt + life), command(), readAt);
      assert.equal(expiresAt, readAt + life);
      assert.ok(refreshAt >= readAt + life * 0.7499 && refreshAt <= readAt + life * 0.8001);
    }),
  );
  assert.equal(lifeOf(new Secret("k"), command(), 0).refreshAt, Infinity);
});

test("a source that fails is left alone for twice as long each time, up to 30 seconds", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 2_000].map(backOffMs),
    [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
  );
});
