import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Burst } from "../../../src/adapters/peer/burst.ts";

/** Adds a connection in each of so many turns of the event loop. Returns in which turn each of them was let go. */
async function joinInEachTurn(burst: Burst, connections: number): Promise<number[]> {
  const left: number[] = [];
  let turn = 0;
  const joined: Promise<void>[] = [];
  for (; turn < connections; turn += 1) {
    joined.push(burst.join().then(() => void left.push(turn)));
    await setImmediate();
  }
  for (let i = 0; i < 4; i += 1, turn += 1) await setImmediate();
  await Promise.all(joined);
  return left;
}

test("connections that arrive in consecutive turns are let go together, after the last", async () => {
  const left = await joinInEachTurn(new Burst(), 8);
  assert.equal(left.length, 8);
  assert.ok(new Set(left).size === 1 && (left[0] ?? 0) >= 7, String(left));
});

test("a burst lasts 16 turns at most", async () => {
  const left = await joinInEachTurn(new Burst(), 64);
  assert.ok(Math.min(...left) <= 17, String(left));
});

test("a connection alone is let go after two turns, also after a burst", async () => {
  const burst = new Burst();
  await joinInEachTurn(burst, 3);
  let isFree = false;
  void burst.join().then(() => (isFree = true));
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  assert.ok(isFree);
});
