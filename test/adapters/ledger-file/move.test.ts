import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { parseRecord } from "../../../src/core/ledger/parse-record.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { ledgerScratchDirectory, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

/** Returns the ids of today's records in a directory. */
function idsIn(directory: string): string[] {
  const lines = readFileSync(join(directory, `${TODAY}.ndjson`), "utf8")
    .trimEnd()
    .split("\n");
  const whole = lines.filter((line) => parseRecord(line) !== "torn");
  return whole.map((line) => (JSON.parse(line) as UsageRecord).id);
}

/** Starts a ledger with the record `a`; `other` is the path of a directory that does not exist yet. */
function startWithOne(t: TestContext) {
  const started = startLedger(t);
  started.ledger.append([usageRecord({ id: "a" })]);
  return { ...started, other: join(ledgerScratchDirectory(t), "other") };
}

test("continues in a new directory after a move, and keeps its counts", (t) => {
  const { ledger, directory, other, log } = startWithOne(t);
  ledger.moveTo({ directory: other, retainDays: 400 });
  ledger.append([usageRecord({ id: "b" })]);
  assert.deepEqual([idsIn(directory), idsIn(other)], [["a"], ["b"]]);
  const { directory: named, written, lost } = ledger.health();
  assert.deepEqual([named, written, lost], [other, 2, 0]);
  assert.match(log.lines.at(-1) ?? "", /^info the ledger continues in another directory/);
});

test("writes pending records to the new directory immediately and in order", (t) => {
  const { ledger, directory, other, clock } = startWithOne(t);
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "");
  clock.advance(1000);
  for (const id of ["b", "c"]) ledger.append([usageRecord({ id })]);
  assert.equal(ledger.health().waiting, 2);
  ledger.moveTo({ directory: other, retainDays: 400 });
  assert.deepEqual(idsIn(other), ["b", "c"]);
  ledger.append([usageRecord({ id: "d" })]);
  assert.deepEqual(idsIn(other), ["b", "c", "d"]);
  assert.deepEqual([ledger.health().waiting, ledger.health().lost], [0, 0]);
});

test("ends a torn line in the new directory before it writes there", (t) => {
  const { ledger, other } = startWithOne(t);
  mkdirSync(other, { mode: 0o700 });
  writeFileSync(join(other, `${TODAY}.ndjson`), '{"v":1,"id":"to', { mode: 0o600 });
  ledger.moveTo({ directory: other, retainDays: 400 });
  ledger.append([usageRecord({ id: "b" })]);
  assert.deepEqual(idsIn(other), ["b"]);
});

/** Directories that are refused. */
const UNSAFE: Record<string, [make: (path: string) => void, reason: RegExp]> = {
  "a link": [(path) => symlinkSync("/", path), /is a symbolic link/],
  "open to others": [
    (path) => {
      mkdirSync(path);
      chmodSync(path, 0o777);
    },
    /can be written by other users/,
  ],
  "a file": [(path) => writeFileSync(path, ""), /cannot create the ledger directory/],
};

for (const [what, [make, reason]] of Object.entries(UNSAFE)) {
  test(`refuses to move to a directory that is ${what}, with a hint, and keeps writing to the old one`, (t) => {
    const { ledger, directory, other } = startWithOne(t);
    make(other);
    assert.throws(() => ledger.moveTo({ directory: other, retainDays: 1 }), {
      name: "Failure",
      message: reason,
      hint: /./,
    });
    ledger.append([usageRecord({ id: "b" })]);
    assert.deepEqual(idsIn(directory), ["a", "b"]);
    assert.equal(ledger.health().directory, directory);
  });
}
