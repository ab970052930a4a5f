import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openLedger } from "../../../src/adapters/ledger-file.ts";
import { afterTest, ledgerScratchDirectory, startLedger } from "../../helpers/ledger/ledger.ts";
import { MemoryLog, ManualClock } from "../../helpers/gate/memory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function directoryWith(t: TestContext, names: string[]): string {
  const directory = join(ledgerScratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  for (const name of names) writeFileSync(join(directory, name), "");
  return directory;
}

test("deletes expired days and their truncated lines when it opens, and no other files", (t) => {
  const kept = [
    "2026-11-18.ndjson",
    "2026-11-18.torn",
    "2026-11-21.ndjson",
    "2026-11-01.ndjson.gz",
    "2026-13-01.ndjson",
    "notes-2026-11-01.ndjson",
    "summary.json",
  ];
  const directory = directoryWith(t, [...kept, "2026-11-17.ndjson", "2026-11-17.torn", "2024-02-29.ndjson"]);
  const { log } = startLedger(t, { directory, retainDays: 3 });
  assert.deepEqual(readdirSync(directory).sort(), kept.sort());
  assert.equal(log.lines.filter((line) => line.startsWith("info an old day")).length, 3);
});

test("starts a file for a new day and deletes the oldest", (t) => {
  const directory = directoryWith(t, []);
  const { ledger, clock } = startLedger(t, { directory, retainDays: 1 });
  for (const ts of ["2026-11-21T12:00:00.000Z", "2026-11-22T12:00:00.000Z", "2026-11-23T12:00:00.000Z"]) {
    ledger.append(usageRecord({ ts }));
    clock.advance(DAY_MS);
  }
  assert.deepEqual(readdirSync(directory).sort(), ["2026-11-22.ndjson", "2026-11-23.ndjson"]);
});

test("logs a day that cannot be deleted and keeps writing", (t) => {
  const directory = directoryWith(t, []);
  mkdirSync(join(directory, "2026-11-01.torn"));
  const { ledger, log, ids } = startLedger(t, { directory, retainDays: 1 });
  assert.match(log.lines[0] ?? "", /^warn old days of the ledger could not be deleted/);
  ledger.append(usageRecord({ id: "a" }));
  assert.deepEqual(ids(), ["a"]);
});

/** Opens a ledger on this day by the clock and writes one record. */
function useOn(t: TestContext, directory: string, day: string): void {
  const clock = new ManualClock();
  clock.wallMs = Date.parse(`${day}T12:00:00Z`);
  const ledger = openLedger({ directory, retainDays: 400, clock, log: new MemoryLog() });
  afterTest(t, () => ledger.close());
  ledger.append(usageRecord({ ts: new Date(clock.now()).toISOString() }));
}

const OLD_DAYS = ["2026-11-18", "2026-11-19", "2026-11-20"];

test("deletes nothing when the clock is years ahead for two days", (t) => {
  const directory = directoryWith(
    t,
    OLD_DAYS.map((day) => `${day}.ndjson`),
  );
  for (const day of ["2029-01-01", "2029-01-01", "2029-01-02", "2029-01-02", "2026-11-21"]) {
    useOn(t, directory, day);
  }
  const days = [...OLD_DAYS, "2026-11-21", "2029-01-01", "2029-01-02"];
  assert.deepEqual(
    readdirSync(directory).sort(),
    days.map((day) => `${day}.ndjson`),
  );
});

test("deletes old days after the machine was off for years, once there are three new ones", (t) => {
  const directory = directoryWith(
    t,
    OLD_DAYS.map((day) => `${day}.ndjson`),
  );
  const newDays = ["2029-01-01", "2029-01-05", "2029-01-09", "2029-01-10"];
  for (const day of newDays) useOn(t, directory, day);
  assert.deepEqual(
    readdirSync(directory).sort(),
    newDays.map((day) => `${day}.ndjson`),
  );
});

test("keeps the configured number of days when it is used every day", (t) => {
  const directory = directoryWith(t, []);
  const { ledger, clock } = startLedger(t, { directory, retainDays: 30 });
  for (let day = 0; day < 50; day += 1) {
    ledger.append(usageRecord({ ts: new Date(clock.now()).toISOString() }));
    clock.advance(DAY_MS);
  }
  assert.equal(readdirSync(directory).length, 31);
});

test("applies a shorter retention from the next day on, and never when it is reverted before", (t) => {
  const directory = directoryWith(
    t,
    OLD_DAYS.map((day) => `${day}.ndjson`),
  );
  const { ledger, clock } = startLedger(t, { directory });
  const count = () => readdirSync(directory).length;
  const appendNow = () => ledger.append(usageRecord({ ts: new Date(clock.now()).toISOString() }));
  ledger.moveTo({ directory, retainDays: 1 });
  appendNow();
  assert.equal(count(), 4);
  ledger.moveTo({ directory, retainDays: 400 });
  clock.advance(DAY_MS);
  appendNow();
  assert.equal(count(), 5);
  ledger.moveTo({ directory, retainDays: 1 });
  clock.advance(DAY_MS);
  appendNow();
  assert.deepEqual(readdirSync(directory).sort(), ["2026-11-22.ndjson", "2026-11-23.ndjson"]);
});
