import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { backOffMs, hasCome, lifeOf, timeOf } from "../../../src/core/secrets/key-life.ts";
import type { KeySource } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const command = (ttlMs?: number): KeySource =>
  ttlMs === undefined ? { kind: "command", argv: ["x"] } : { kind: "command", argv: ["x"], ttlMs };

const backOffs = (lifeMs: number) => [1, 2, 3, 4, 5, 6, 7, 2_000].map((count) => backOffMs(count, lifeMs));

const at = (wall: number, machine = 0) => ({ wall, machine });

const expiry = (stated: number | null, source: KeySource) =>
  timeOf(lifeOf(new Secret("k", stated), source, at(1_000)).expiresAt, at(1_000));

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
      const { refreshAt, expiresAt } = lifeOf(new Secret("k", readAt + life), command(), at(readAt, 7));
      assert.deepEqual(expiresAt, at(readAt + life, 7 + life));
      for (const ms of [refreshAt.wall - readAt, refreshAt.machine - 7])
        assert.ok(ms >= life * 0.7499 && ms <= life * 0.8001);
    }),
  );
  assert.equal(hasCome(lifeOf(new Secret("k"), command(), at(0)).refreshAt, at(1e15, 1e15)), false);
});

test("a ttl counts whatever the wall clock is set to; a stated time also counts by the wall clock", () => {
  const now = at(1_000_000, 500);
  const counted = lifeOf(new Secret("k"), command(30_000), now).expiresAt;
  assert.equal(hasCome(counted, at(9_000_000, 30_499)), false);
  assert.equal(hasCome(counted, at(0, 30_500)), true);
  assert.equal(timeOf(counted, at(9_000_000, 20_500)), 9_010_000);
  const stated = lifeOf(new Secret("k", 1_030_000), command(), now).expiresAt;
  assert.equal(hasCome(stated, at(1_029_999, 30_499)), false);
  assert.equal(hasCome(stated, at(0, 30_500)), true);
  assert.equal(hasCome(stated, at(1_030_000, 501)), true);
  assert.equal(timeOf(stated, at(1_010_000, 10_501)), 1_030_000);
});

test("a source that fails is left alone for twice as long each time, up to 30 seconds and a thirtieth of its key's life", () => {
  const HOUR_MS = 3_600_000;
  assert.deepEqual(backOffs(HOUR_MS), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  assert.deepEqual(backOffs(Infinity), backOffs(HOUR_MS));
  assert.deepEqual(backOffs(90_000), [1_000, 2_000, 3_000, 3_000, 3_000, 3_000, 3_000, 3_000]);
  assert.deepEqual(backOffs(30_000), Array(8).fill(1_000));
});
