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

const OLD_DAYS = ["2026-11-18", "2026-11-19", "2026-11-20"];

const filesOf = (days: readonly string[]) => days.map((day) => `${day}.ndjson`);

test("deletes expired days and their truncated lines when it opens, and no other files", (t) => {
  const kept = [
    "2026-11-18.ndjson",
    "2026-11-18.torn",
    "2026-11-19.ndjson",
    "2026-11-20.ndjson",
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
  const directory = directoryWith(t, filesOf(OLD_DAYS));
  mkdirSync(join(directory, "2026-11-01.torn"));
  const { ledger, log, ids } = startLedger(t, { directory, retainDays: 1 });
  assert.match(log.lines[0] ?? "", /^warn old days of the ledger could not be deleted/);
  ledger.append(usageRecord({ id: "a" }));
  assert.deepEqual(ids(), ["a"]);
});

/** Opens a ledger on this day by the clock and writes one record. */
function useOn(t: TestContext, directory: string, day: string, retainDays: number): void {
  const clock = new ManualClock();
  clock.wallMs = Date.parse(`${day}T12:00:00Z`);
  const ledger = openLedger({ directory, retainDays, clock, log: new MemoryLog() });
  afterTest(t, () => ledger.close());
  ledger.append(usageRecord({ ts: new Date(clock.now()).toISOString() }));
}

/** Ten days, up to the day before the test clock's. */
const TEN_DAYS = Array.from({ length: 10 }, (_, i) => `2026-11-${11 + i}`);

test("a start with a clock ten years ahead, on two days, deletes nothing, and neither does the next one with the right clock", (t) => {
  const directory = directoryWith(t, filesOf(TEN_DAYS));
  const ahead = ["2036-11-21", "2036-11-22"];
  for (const day of [ahead[0], ahead[0], ahead[1], ahead[1], "2026-11-21"]) {
    useOn(t, directory, day ?? "", 10);
  }
  assert.deepEqual(readdirSync(directory).sort(), filesOf([...TEN_DAYS, "2026-11-21", ...ahead]));
});

for (const [what, leapMs] of [
  ["ten years ahead", 3653 * DAY_MS],
  ["a week ahead", 7 * DAY_MS],
  ["two days ahead, as after a suspend", 2 * DAY_MS],
  ["ten years back", -3653 * DAY_MS],
] as const) {
  test(`a running daemon whose clock leaps ${what} deletes nothing, and nothing when it leaps back`, (t) => {
    const directory = directoryWith(t, filesOf(TEN_DAYS));
    const { ledger, clock } = startLedger(t, { directory, retainDays: 10 });
    const appendNow = () => ledger.append(usageRecord({ ts: new Date(clock.now()).toISOString() }));
    appendNow();
    clock.wallMs += leapMs;
    const leapt = new Date(clock.now()).toISOString().slice(0, 10);
    appendNow();
    const after = filesOf([...TEN_DAYS, "2026-11-21", leapt]).sort();
    assert.deepEqual(readdirSync(directory).sort(), after);
    clock.wallMs -= leapMs;
    appendNow();
    const kept = leapMs < 0 ? after.filter((name) => !name.startsWith(leapt)) : after;
    assert.deepEqual(readdirSync(directory).sort(), kept);
  });
}

test("days that a clock was ahead of make no other day expire, and hold none back", (t) => {
  const future = ["2036-01-01", "2036-01-02", "2036-01-03"];
  const directory = directoryWith(t, filesOf([...TEN_DAYS, ...future]));
  useOn(t, directory, "2026-11-21", 9);
  assert.deepEqual(readdirSync(directory).sort(), filesOf([...TEN_DAYS.slice(1), "2026-11-21", ...future]));
});

test("deletes old days after the machine was off for years, once there are three new ones", (t) => {
  const directory = directoryWith(t, filesOf(OLD_DAYS));
  const newDays = ["2029-01-01", "2029-01-05", "2029-01-09", "2029-01-10"];
  for (const day of newDays.slice(0, 3)) useOn(t, directory, day, 400);
  assert.deepEqual(readdirSync(directory).sort(), filesOf([...OLD_DAYS, ...newDays.slice(0, 3)]));
  useOn(t, directory, "2029-01-10", 400);
  assert.deepEqual(readdirSync(directory).sort(), filesOf(newDays));
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
  const directory = directoryWith(t, filesOf(OLD_DAYS));
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
