import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openLedger } from "../../../src/adapters/ledger-file.ts";
import { atEnd, scratchDirectory, startLedger } from "../../helpers/ledger/ledger.ts";
import { MemoryLog, StillClock } from "../../helpers/gate/memory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function directoryWith(t: TestContext, names: string[]): string {
  const directory = join(scratchDirectory(t), "ledger");
  mkdirSync(directory, { mode: 0o700 });
  for (const name of names) writeFileSync(join(directory, name), "");
  return directory;
}

test("days older than the retention are deleted at start, with what was torn off them; no other name is", (t) => {
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

test("a new day gets a file of its own, and the oldest goes", (t) => {
  const directory = directoryWith(t, []);
  const { ledger, clock } = startLedger(t, { directory, retainDays: 1 });
  for (const ts of ["2026-11-21T12:00:00.000Z", "2026-11-22T12:00:00.000Z", "2026-11-23T12:00:00.000Z"]) {
    ledger.append(usageRecord({ ts }));
    clock.advance(DAY_MS);
  }
  assert.deepEqual(readdirSync(directory).sort(), ["2026-11-22.ndjson", "2026-11-23.ndjson"]);
});

test("a day that cannot be deleted stops nothing", (t) => {
  const directory = directoryWith(t, []);
  mkdirSync(join(directory, "2026-11-01.torn"));
  const { ledger, log, ids } = startLedger(t, { directory, retainDays: 1 });
  assert.match(log.lines[0] ?? "", /^warn old days of the ledger could not be deleted/);
  ledger.append(usageRecord({ id: "a" }));
  assert.deepEqual(ids(), ["a"]);
});

/** Starts, writes one record, and stops, on a day by the clock. */
function useOn(t: TestContext, directory: string, day: string): void {
  const clock = new StillClock();
  clock.wallMs = Date.parse(`${day}T12:00:00Z`);
  const ledger = openLedger({ directory, retainDays: 400, clock, log: new MemoryLog() });
  atEnd(t, () => ledger.close());
  ledger.append(usageRecord({ ts: new Date(clock.now()).toISOString() }));
}

const OLD_DAYS = ["2026-11-18", "2026-11-19", "2026-11-20"];

test("a clock that is years ahead for two days deletes nothing, at no start and at no new day", (t) => {
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

test("where the machine was off for years the old days go, once there are three new ones", (t) => {
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

test("a ledger in use on every day is kept for as many days as are named, and no longer", (t) => {
  const directory = directoryWith(t, []);
  const { ledger, clock } = startLedger(t, { directory, retainDays: 30 });
  for (let day = 0; day < 50; day += 1) {
    ledger.append(usageRecord({ ts: new Date(clock.now()).toISOString() }));
    clock.advance(DAY_MS);
  }
  assert.equal(readdirSync(directory).length, 31);
});

test("another retention does not delete at once, and a slip in it that is mended by the next day nothing", (t) => {
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
