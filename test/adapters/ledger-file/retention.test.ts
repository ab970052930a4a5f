import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openLedger } from "../../../src/adapters/ledger-file.ts";
import { closeDays } from "../../../src/adapters/ledger-file/closed-days.ts";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import { hasRecords, parseLedgerFileName } from "../../../src/core/ledger/day.ts";
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

/** Returns the days that still have records, compressed or not. */
function daysIn(directory: string): string[] {
  const files = readdirSync(directory).flatMap((name) => parseLedgerFileName(name) ?? []);
  return [...new Set(files.filter(hasRecords).map(({ day }) => day))].sort();
}

const OLD_DAYS = ["2026-11-18", "2026-11-19", "2026-11-20"];

const filesOf = (days: readonly string[]) => days.map((day) => `${day}.ndjson`);

test("deletes expired days and their truncated lines, keeps their sums, and leaves other files alone", async (t) => {
  const kept = [
    "2026-11-18.ndjson",
    "2026-11-18.torn",
    "2026-11-19.ndjson",
    "2026-11-20.ndjson",
    "2026-11-21.ndjson",
    "2026-13-01.ndjson",
    "notes-2026-11-01.ndjson",
    "summary.json",
  ];
  const directory = directoryWith(t, [...kept, "2026-11-17.ndjson", "2026-11-17.torn", "2024-02-29.ndjson"]);
  const { deleted, problems } = await startLedger(t, { directory, retainDays: 3 }).closeDays();
  assert.deepEqual(deleted, ["2024-02-29.ndjson", "2026-11-17.ndjson", "2026-11-17.torn"]);
  assert.deepEqual(problems, []);
  const sums = ["2024-02-29.kept", "2026-11-17.kept"];
  const caches = ["2026-11-18", "2026-11-19"].flatMap((day) => [`${day}.rollup`, `${day}.details`]);
  assert.deepEqual(readdirSync(directory).sort(), [...kept, ...sums, ...caches].sort());
});

test("starts a file for a new day and deletes the oldest once its sums are kept", async (t) => {
  const directory = directoryWith(t, []);
  const { ledger, clock, closeDays: close } = startLedger(t, { directory, retainDays: 1 });
  for (const day of ["2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"]) {
    ledger.append([usageRecord({ ts: `${day}T12:00:00.000Z` })]);
    await close();
    clock.advance(DAY_MS);
  }
  assert.deepEqual(readdirSync(directory).sort(), [
    "2026-11-21.kept",
    "2026-11-22.kept",
    "2026-11-23.ndjson",
    "2026-11-24.ndjson",
  ]);
});

test("says which day cannot be closed, and closes the others", async (t) => {
  const directory = directoryWith(t, filesOf(OLD_DAYS));
  mkdirSync(join(directory, "2026-11-01.ndjson"));
  const now = Date.parse("2026-11-21T12:00:00Z");
  const { deleted, problems } = await closeDays({ directory, retainDays: 1, now, limits: [] }, UTC_CALENDAR);
  assert.match(
    problems.map(({ day, reason }) => `${day} ${reason}`).join(),
    /^2026-11-01 .*not a regular file$/,
  );
  assert.deepEqual(deleted, ["2026-11-18.ndjson", "2026-11-19.ndjson"]);
});

/** Opens a ledger on this day by the clock and writes one record. */
async function useOn(t: TestContext, directory: string, day: string, retainDays: number): Promise<void> {
  const clock = new ManualClock();
  clock.wallMs = Date.parse(`${day}T12:00:00Z`);
  const ledger = openLedger({ directory, retainDays, clock, log: new MemoryLog(), onNewDay() {} });
  afterTest(t, () => ledger.close());
  await closeDays({ directory, retainDays, now: clock.now(), limits: [] }, UTC_CALENDAR);
  ledger.append([usageRecord({ ts: new Date(clock.now()).toISOString() })]);
  await closeDays({ directory, retainDays, now: clock.now(), limits: [] }, UTC_CALENDAR);
}

/** Ten days, up to the day before the test clock's. */
const TEN_DAYS = Array.from({ length: 10 }, (_, i) => `2026-11-${11 + i}`);

test("a start with a clock ten years ahead, on two days, deletes nothing, and neither does the next one with the right clock", async (t) => {
  const directory = directoryWith(t, filesOf(TEN_DAYS));
  const ahead = ["2036-11-21", "2036-11-22"];
  for (const day of [ahead[0], ahead[0], ahead[1], ahead[1], "2026-11-21"]) {
    await useOn(t, directory, day ?? "", 10);
  }
  assert.deepEqual(daysIn(directory), [...TEN_DAYS, "2026-11-21", ...ahead]);
});

for (const [what, leapMs] of [
  ["ten years ahead", 3653 * DAY_MS],
  ["a week ahead", 7 * DAY_MS],
  ["two days ahead, as after a suspend", 2 * DAY_MS],
  ["ten years back", -3653 * DAY_MS],
] as const) {
  test(`a running daemon whose clock leaps ${what} deletes nothing, and nothing when it leaps back`, async (t) => {
    const directory = directoryWith(t, filesOf(TEN_DAYS));
    const { ledger, clock, closeDays: close } = startLedger(t, { directory, retainDays: 10 });
    const appendNow = async () => {
      ledger.append([usageRecord({ ts: new Date(clock.now()).toISOString() })]);
      await close();
    };
    await appendNow();
    clock.wallMs += leapMs;
    const leapt = new Date(clock.now()).toISOString().slice(0, 10);
    await appendNow();
    const after = [...TEN_DAYS, "2026-11-21", leapt].sort();
    assert.deepEqual(daysIn(directory), after);
    clock.wallMs -= leapMs;
    await appendNow();
    const kept = leapMs < 0 ? after.filter((name) => name !== leapt) : after;
    assert.deepEqual(daysIn(directory), kept);
  });
}

test("days that a clock was ahead of make no other day expire, and hold none back", async (t) => {
  const future = ["2036-01-01", "2036-01-02", "2036-01-03"];
  const directory = directoryWith(t, filesOf([...TEN_DAYS, ...future]));
  await useOn(t, directory, "2026-11-21", 9);
  assert.deepEqual(daysIn(directory), [...TEN_DAYS.slice(1), "2026-11-21", ...future]);
});

test("deletes old days after the machine was off for years, once there are three new ones", async (t) => {
  const directory = directoryWith(t, filesOf(OLD_DAYS));
  const newDays = ["2029-01-01", "2029-01-05", "2029-01-09", "2029-01-10"];
  for (const day of newDays.slice(0, 3)) await useOn(t, directory, day, 400);
  assert.deepEqual(daysIn(directory), [...OLD_DAYS, ...newDays.slice(0, 3)]);
  await useOn(t, directory, "2029-01-10", 400);
  assert.deepEqual(daysIn(directory), newDays);
});

test("keeps the configured number of days when it is used every day", async (t) => {
  const directory = directoryWith(t, []);
  const { ledger, clock, closeDays: close } = startLedger(t, { directory, retainDays: 30 });
  for (let day = 0; day < 50; day += 1) {
    ledger.append([usageRecord({ ts: new Date(clock.now()).toISOString() })]);
    await close();
    clock.advance(DAY_MS);
  }
  assert.equal(daysIn(directory).length, 31);
});

test("applies a shorter retention from the next day on, and never when it is reverted before", async (t) => {
  const directory = directoryWith(t, filesOf(OLD_DAYS));
  const { ledger, clock, closeDays: close } = startLedger(t, { directory });
  const count = () => daysIn(directory).length;
  const appendNow = async () => {
    ledger.append([usageRecord({ ts: new Date(clock.now()).toISOString() })]);
    await close();
  };
  ledger.moveTo({ directory, retainDays: 1 });
  await appendNow();
  assert.equal(count(), 4);
  ledger.moveTo({ directory, retainDays: 400 });
  clock.advance(DAY_MS);
  await appendNow();
  assert.equal(count(), 5);
  ledger.moveTo({ directory, retainDays: 1 });
  clock.advance(DAY_MS);
  await appendNow();
  assert.deepEqual(daysIn(directory), ["2026-11-22", "2026-11-23"]);
});
