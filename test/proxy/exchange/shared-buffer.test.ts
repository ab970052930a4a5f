import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedBuffer } from "../../../src/proxy/exchange/shared-buffer.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
/** The most that one queue may hold. */
const MOST = 256 * KIB;
/** What one reading of a socket brings. */
const READING = 64 * KIB;
const LIMIT = 256 * MIB;

/** Lets `count` queues, which nobody reads, take turns in growing by one reading each until none may. Returns their lengths. */
function fill(buffer: SharedBuffer, count: number): number[] {
  const lengths = Array.from({ length: count }, () => 0);
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false;
    for (const [i, bytes] of lengths.entries()) {
      if (!buffer.hasRoom(bytes)) continue;
      buffer.resize(bytes, bytes + READING);
      lengths[i] = bytes + READING;
      hasGrown = true;
    }
  }
  return lengths;
}

test("a single queue may hold 256 KiB, and what one reading brings beyond it", () => {
  const [bytes = 0] = fill(new SharedBuffer(LIMIT), 1);
  assert.ok(bytes >= MOST && bytes <= MOST + READING, String(bytes));
});

for (const count of [10, 100, 1_000, 2_000]) {
  test(`${count} queues that nobody reads stay below the limit together, with equal lengths`, () => {
    const buffer = new SharedBuffer(LIMIT);
    const lengths = fill(buffer, count);
    assert.ok(buffer.usedBytes <= LIMIT, String(buffer.usedBytes));
    assert.equal(
      buffer.usedBytes,
      lengths.reduce((sum, bytes) => sum + bytes, 0),
    );
    assert.ok(Math.max(...lengths) - Math.min(...lengths) <= READING, String(lengths));
    assert.ok(Math.min(...lengths) >= Math.min(MOST, LIMIT / (64 + count)) - READING, String(lengths));
  });
}

test("ten thousand queues that nobody reads hold one reading each", () => {
  assert.deepEqual(new Set(fill(new SharedBuffer(LIMIT), 10_000)), new Set([READING]));
});

test("a queue that becomes empty may grow again, however much the others hold", () => {
  const buffer = new SharedBuffer(LIMIT);
  fill(buffer, 10_000);
  assert.deepEqual([buffer.hasRoom(1), buffer.hasRoom(0)], [false, true]);
});

test("a queue that becomes shorter gives the others room", () => {
  const buffer = new SharedBuffer(LIMIT);
  fill(buffer, 2_000);
  assert.equal(buffer.hasRoom(READING), false);
  for (let left = 0; left < 1_000; left += 1) buffer.resize(READING, 0);
  assert.equal(buffer.hasRoom(READING), true);
});

test("a lower limit applies at once, to queues that are already longer, too", () => {
  const buffer = new SharedBuffer(LIMIT);
  assert.equal(buffer.hasRoom(MOST), true);
  buffer.setLimit(16 * MIB);
  assert.deepEqual([buffer.hasRoom(MOST), buffer.hasRoom(100 * KIB)], [false, true]);
});
