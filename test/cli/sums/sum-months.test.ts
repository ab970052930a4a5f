import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { crc32, gzipSync } from "node:zlib";
import { readRollup } from "../../../src/adapters/ledger-file.ts";
import {
  keepSums,
  listMonths,
  markDeleted,
  summariseDay,
  verifyMonth,
} from "../../../src/adapters/ledger-file/closed-days.ts";
import { calendarOf } from "../../../src/core/ledger/calendar.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import {
  answerFromRecords,
  ask,
  DAY_MS,
  HOUR_MS,
  inScratchLedger,
  LIMITS,
  shown,
  toRecords,
  writeLedger,
  type Question,
} from "../../helpers/ledger/asked-ledger.ts";
import { PRICES } from "../../helpers/ledger/priced-record.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const UNTIL_NOW: Question = {
  by: ["tool"],
  zone: "UTC",
  since: Date.parse("2026-08-20"),
  until: null,
  filter: {},
};

async function assertSame(directory: string, all: readonly UsageRecord[]): Promise<void> {
  assert.deepEqual(shown(await ask(directory, UNTIL_NOW)), shown(answerFromRecords(all, UNTIL_NOW)));
}

const DAYS = ["2026-09-30", "2026-10-01", "2026-10-14", "2026-10-31", "2026-11-01"];

/** A ledger of some days whose rollups are made, and the month between them. */
async function writeMonth(directory: string): Promise<UsageRecord[]> {
  const all = toRecords(
    DAYS.flatMap((day, at) =>
      [0, 1, 2].map((hour): [UsageRecord, number, object] => [
        usageRecord({ tokens: tokens({ input_uncached: 100 + at, output: hour }) }),
        Date.parse(day) + hour * HOUR_MS,
        { model: "house-1", upstream: "gateway" },
      ]),
    ),
  );
  writeLedger(directory, all, () => "open");
  for (const _ of [1, 2]) await ask(directory, UNTIL_NOW);
  assert.deepEqual(listMonths(directory), ["2026-09", "2026-10"]);
  return all;
}

/** Puts something else of the same size and time in the place of a file. */
function hide(path: string): void {
  const { size, atime, mtime } = statSync(path);
  writeFileSync(path, "x".repeat(size));
  utimesSync(path, atime, mtime);
}

test("a whole month is answered by its own sums, without those of its days", () =>
  inScratchLedger(async (directory) => {
    const all = await writeMonth(directory);
    for (const day of DAYS.slice(1, 4))
      for (const kind of ["ndjson", "rollup"]) hide(join(directory, `${day}.${kind}`));
    const month = Date.parse("2026-10-01");
    const asked: Question[] = [
      UNTIL_NOW,
      { ...UNTIL_NOW, since: month, until: Date.parse("2026-11-01") },
      { ...UNTIL_NOW, by: ["month", "model"] },
      { ...UNTIL_NOW, zone: "America/New_York", by: ["outcome"] },
    ];
    for (const question of asked)
      assert.deepEqual(shown(await ask(directory, question)), shown(answerFromRecords(all, question)));
  }));

test("a month in part, by the days or by another zone's months is answered by its days", () =>
  inScratchLedger(async (directory) => {
    const all = await writeMonth(directory);
    const month = Date.parse("2026-10-01");
    const asked: Question[] = [
      { ...UNTIL_NOW, since: month + 1 },
      { ...UNTIL_NOW, until: Date.parse("2026-11-01") - 1 },
      { ...UNTIL_NOW, since: month + DAY_MS },
      { ...UNTIL_NOW, by: ["day"] },
      { ...UNTIL_NOW, by: ["week", "tool"] },
      { ...UNTIL_NOW, by: ["month"], zone: "America/New_York" },
      { ...UNTIL_NOW, by: ["month", "tool"], zone: "Asia/Kolkata" },
    ];
    for (const question of asked)
      assert.deepEqual(shown(await ask(directory, question)), shown(answerFromRecords(all, question)));
  }));

test("a month is made again where prices that changed during it are new", () =>
  inScratchLedger(async (directory) => {
    const all = await writeMonth(directory);
    const dated = priceBook(
      { gateway: { baseUrl: "https://gateway.example/v1" } },
      {
        "house-*": [
          { input: 3, output: 15 },
          { from: "2026-10-12", input: 2, output: 10 },
        ],
      },
    );
    const path = join(directory, "2026-10.month");
    const before = readFileSync(path, "utf8");
    assert.deepEqual(
      shown(await ask(directory, UNTIL_NOW, dated), dated),
      shown(answerFromRecords(all, UNTIL_NOW, dated), dated),
    );
    const after = readFileSync(path, "utf8");
    assert.notEqual(after, before);
    // The older prices tell fewer times apart, so the new sums serve both.
    assert.deepEqual(shown(await ask(directory, UNTIL_NOW)), shown(answerFromRecords(all, UNTIL_NOW)));
    assert.equal(readFileSync(path, "utf8"), after);
    assert.equal(verifyMonth(directory, "2026-10", PRICES), null);
    assert.equal(verifyMonth(directory, "2026-10", dated), null);
  }));

test("a month that is not over, or of which a day has no rollup, has no sums", () =>
  inScratchLedger(async (directory) => {
    const today = new Date().toISOString().slice(0, 10);
    const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
    const all = toRecords([today, yesterday].map((day) => [usageRecord({}), Date.parse(day), {}]));
    writeLedger(directory, all, () => "open");
    for (const _ of [1, 2])
      await ask(directory, { ...UNTIL_NOW, since: Date.parse(yesterday) - 60 * DAY_MS });
    assert.ok(readRollup(directory, yesterday) !== null);
    assert.deepEqual(listMonths(directory), []);
  }));

test("a month whose days tell prompts apart by other sizes is answered by its days", () =>
  inScratchLedger(async (directory) => {
    const large = tokens({ input_uncached: 250_000, output: 10 });
    const all = toRecords([
      [
        usageRecord({ tokens: large }),
        Date.parse("2026-10-02"),
        { model: "claude-sonnet-4-5", upstream: "anthropic" },
      ],
      [usageRecord({}), Date.parse("2026-10-03"), { model: "house-1", upstream: "gateway" }],
    ]);
    writeLedger(directory, all, () => "open");
    await summariseDay(directory, "2026-10-02", { cuts: [], limits: LIMITS });
    await summariseDay(directory, "2026-10-03", { cuts: [], limits: [] });
    for (const _ of [1, 2]) await assertSame(directory, all);
    assert.deepEqual(listMonths(directory), []);
  }));

test("a damaged month and sums that are not those of its days are found", () =>
  inScratchLedger(async (directory) => {
    const all = await writeMonth(directory);
    const path = join(directory, "2026-10.month");
    const right = readFileSync(path, "utf8");
    writeFileSync(path, right.replace('"counts":[9', '"counts":[8'));
    assert.notEqual(readFileSync(path, "utf8"), right);
    assert.equal(verifyMonth(directory, "2026-10", PRICES), "it cannot be read");
    assert.deepEqual(shown(await ask(directory, UNTIL_NOW)), shown(answerFromRecords(all, UNTIL_NOW)));
    assert.equal(readFileSync(path, "utf8"), right);
    // Another version made it.
    writeFileSync(path, right.replace('"month":1', '"month":0'));
    assert.equal(verifyMonth(directory, "2026-10", PRICES), null);
    assert.deepEqual(shown(await ask(directory, UNTIL_NOW)), shown(answerFromRecords(all, UNTIL_NOW)));
    assert.equal(readFileSync(path, "utf8"), right);

    const [header = "", sums = "", times = ""] = right.split("\n");
    const wrong = sums.replace('"counts":[9', '"counts":[8');
    const { crc, ...rest } = JSON.parse(header) as { crc: number[] };
    const signed = JSON.stringify({ ...rest, crc: crc.with(1, crc32(wrong)) });
    writeFileSync(path, [signed, wrong, times, ""].join("\n"));
    assert.equal(verifyMonth(directory, "2026-10", PRICES), "its sums are not those of its days");
  }));

test("a day that changes after its month was made counts as it is, and so does a new one", () =>
  inScratchLedger(async (directory) => {
    const all = await writeMonth(directory);
    for (const day of ["2026-10-14", "2026-10-20"]) {
      const late = { ...usageRecord({}), id: `late-${day}`, ts: `${day}T12:00:00.000Z` } as UsageRecord;
      writeFileSync(join(directory, `${day}.ndjson`), `${JSON.stringify(late)}\n`, { flag: "a" });
      all.push(late);
      // The first makes the day's sums again, the second those of the month.
      for (const _ of [1, 2, 3]) await assertSame(directory, all);
    }
    assert.deepEqual(listMonths(directory), ["2026-09", "2026-10"]);
  }));

test("a rollup that comes back from a backup with sums of deleted records counts", () =>
  inScratchLedger(async (directory) => {
    const all = await writeMonth(directory);
    const day = "2026-10-14";
    const rollup = join(directory, `${day}.rollup`);
    const earlier = { ...usageRecord({}), id: "earlier", ts: `${day}T12:00:00.000Z` } as UsageRecord;
    writeFileSync(join(directory, `${day}.ndjson.gz`), gzipSync(`${JSON.stringify(earlier)}\n`));
    await assertSame(directory, [...all, earlier]);
    const backup = readFileSync(rollup);
    for (const path of [rollup, join(directory, `${day}.ndjson.gz`)]) rmSync(path);
    for (const _ of [1, 2]) await assertSame(directory, all);
    assert.deepEqual(listMonths(directory), ["2026-09", "2026-10"]);
    writeFileSync(rollup, backup);
    await assertSame(directory, [...all, earlier]);
  }));

test("the sums of a month go when records of one of its days are deleted", () =>
  inScratchLedger(async (directory) => {
    await writeMonth(directory);
    await keepSums(directory, "2026-10-14", { calendar: calendarOf("UTC"), limits: LIMITS });
    rmSync(join(directory, "2026-10-14.ndjson"));
    markDeleted(directory, "2026-10-14");
    assert.equal(existsSync(join(directory, "2026-10.month")), false);
  }));

test("kept sums that come back from a backup count beside a record that arrived after their records were deleted", () =>
  inScratchLedger(async (directory) => {
    const all = await writeMonth(directory);
    const day = "2026-10-14";
    const kept = join(directory, `${day}.kept`);
    await keepSums(directory, day, { calendar: calendarOf("UTC"), limits: LIMITS });
    rmSync(join(directory, `${day}.ndjson`));
    markDeleted(directory, day);
    const backup = readFileSync(kept);
    rmSync(kept);
    const late = { ...usageRecord({}), id: "late", ts: `${day}T12:00:00.000Z` } as UsageRecord;
    writeFileSync(join(directory, `${day}.ndjson`), `${JSON.stringify(late)}\n`);
    const without = all.filter(({ ts }) => !ts.startsWith(day));
    for (const _ of [1, 2])
      assert.deepEqual(
        shown(await ask(directory, UNTIL_NOW)),
        shown(answerFromRecords([...without, late], UNTIL_NOW)),
      );
    assert.deepEqual(listMonths(directory), ["2026-09", "2026-10"]);
    writeFileSync(kept, backup);
    assert.deepEqual(
      shown(await ask(directory, UNTIL_NOW)),
      shown(answerFromRecords([...all, late], UNTIL_NOW)),
    );
  }));
