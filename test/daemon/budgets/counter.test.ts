import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { cursorAtEnd } from "../../../src/adapters/ledger-file.ts";
import { closeDays } from "../../../src/adapters/ledger-file/closed-days.ts";
import { NO_STATE } from "../../../src/core/budget/state.ts";
import type { BudgetSettings } from "../../../src/core/budget/gauges.ts";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { Counter } from "../../../src/daemon/budgets/counter.ts";
import { settingsFor, spentIn } from "../../helpers/budget/budget-book.ts";
import { tokens } from "../../helpers/ledger/usage-record.ts";
import { pricedRecord, PRICES } from "../../helpers/ledger/priced-record.ts";

/** The night on which clocks go back in Europe, and a turn of the month, are in these days. */
const FIRST = Date.parse("2026-10-20T00:00:00Z");
const DAY_MS = 86_400_000;
const DAYS = 16;

const records = fc.array(
  fc
    .tuple(
      pricedRecord,
      fc.integer({ min: FIRST, max: FIRST + DAYS * DAY_MS - 1 }),
      fc.record({
        tool: fc.constantFrom("codex", "claude-code"),
        project: fc.constantFrom(null, "/home/ada/shop"),
        key: fc.constantFrom("default", "work"),
        upstream: fc.constantFrom("anthropic", "openai", "deepseek", "local", "sandbox"),
        outcome: fc.constantFrom("completed", "cut", "error"),
        response_id: fc.constantFrom(null, null, "resp_1", "resp_2"),
        spend: fc.constantFrom("count", "count", "attach_by_response_id", "never"),
        method: fc.constantFrom("POST", "POST", "GET"),
      }),
    )
    .map(([record, time, changes]): UsageRecord => ({
      ...record,
      ...changes,
      ts: new Date(time).toISOString(),
    })),
  { maxLength: 40 },
);

const BUDGETS = {
  tools: {
    codex: {
      budgets: [
        { usd: 1, per: "month" },
        { tokens: 1, per: "day" },
      ],
    },
  },
  keys: { work: { budgets: [{ tokens: 1, class: "output", per: "week" }] } },
  budgets: [
    { usd: 1, per: "month" },
    { usd: 1, rolling: 72 },
  ],
};
const PROJECT = { projects: { "/home/ada/shop": { budgets: [{ usd: 1, per: "month" }] } } };

function withRecords<Result>(all: readonly UsageRecord[], use: (directory: string) => Promise<Result>) {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const days = new Map<string, string[]>();
  all.forEach((record, at) => {
    const day = record.ts.slice(0, 10);
    // Each has an id of its own, and the first of a day has a copy.
    const line = `${JSON.stringify({ ...record, id: `r-${at}` })}\n`;
    days.set(day, [...(days.get(day) ?? [line]), line]);
  });
  for (const [day, lines] of days) writeFileSync(join(directory, `${day}.ndjson`), lines.join(""));
  return use(directory).finally(() => rmSync(directory, { recursive: true, force: true }));
}

/** All that a ledger has. */
function placeOf(directory: string) {
  return { directory, cursor: cursorAtEnd(directory) };
}

/** What each budget has spent, and what of it is assumed. */
async function count(directory: string, settings: BudgetSettings, now: number): Promise<bigint[][]> {
  const counter = new Counter({ ...placeOf(directory), state: NO_STATE, now }, settings);
  await counter.count();
  return spentIn(counter.book, now);
}

test("what the sums of closed days say was spent is what their records say", () =>
  fc.assert(
    fc.asyncProperty(
      records,
      fc.constantFrom(
        Date.parse("2026-10-31T22:59:59.999Z"),
        Date.parse("2026-10-31T23:00:00.000Z"),
        FIRST + DAYS * DAY_MS,
      ),
      fc.boolean(),
      fc.constantFrom("Europe/Berlin", "America/New_York"),
      (all, now, isByProject, zone) =>
        withRecords(all, async (directory) => {
          const calendar = zonedCalendar(zone);
          const sections = isByProject ? { ...BUDGETS, ...PROJECT } : BUDGETS;
          const settings = settingsFor(sections, { prices: PRICES, calendar });
          const before = await count(directory, settings, now);
          await closeDays({ directory, retainDays: 400, now, limits: PRICES.allLimits() }, calendar);
          assert.deepEqual(await count(directory, settings, now), before);
        }),
    ),
    { numRuns: 150 },
  ));

test("a day whose records were deleted counts by its sums", () =>
  fc.assert(
    fc.asyncProperty(records, (all) =>
      withRecords(all, async (directory) => {
        const now = FIRST + DAYS * DAY_MS + DAY_MS / 2;
        const calendar = zonedCalendar("Europe/Berlin");
        const settings = settingsFor({ budgets: [{ usd: 1, per: "month" }] }, { prices: PRICES, calendar });
        const before = await count(directory, settings, now);
        await closeDays({ directory, retainDays: 1, now, limits: PRICES.allLimits() }, calendar);
        assert.deepEqual(await count(directory, settings, now), before);
      }),
    ),
    { numRuns: 50 },
  ));

test("a day whose records somebody else deleted counts by its sums, too", () =>
  fc.assert(
    fc.asyncProperty(records, (all) =>
      withRecords(all, async (directory) => {
        const now = FIRST + DAYS * DAY_MS + DAY_MS / 2;
        const calendar = zonedCalendar("Europe/Berlin");
        const settings = settingsFor({ budgets: [{ usd: 1, per: "month" }] }, { prices: PRICES, calendar });
        const before = await count(directory, settings, now);
        await closeDays({ directory, retainDays: 400, now, limits: PRICES.allLimits() }, calendar);
        for (const name of readdirSync(directory).filter((file) => file.endsWith(".ndjson.gz")))
          rmSync(join(directory, name));
        assert.deepEqual(await count(directory, settings, now), before);
      }),
    ),
    { numRuns: 20 },
  ));

test("sums that are of other records than those up to the place are not used", () => {
  const now = Date.parse("2026-10-31T12:00:00Z");
  const calendar = zonedCalendar("Europe/Berlin");
  const [record] = fc.sample(pricedRecord, { numRuns: 1, seed: 7 });
  const counts = {
    tokens: tokens({ output: 7 }),
    extra: [] as never[],
    usage: "final",
    spend: "count",
  } as const;
  const one = { ...record, ...counts, tool: "codex", upstream: "openai", ts: "2026-10-22T12:00:00.000Z" };
  return withRecords([{ ...one, method: "POST" } as UsageRecord], async (directory) => {
    const settings = settingsFor({ budgets: [{ tokens: 1, per: "month" }] }, { calendar });
    const question = { state: NO_STATE, now };
    const spent = async (place: ReturnType<typeof placeOf>) => {
      const counter = new Counter({ ...place, ...question }, settings);
      await counter.count();
      return spentIn(counter.book, now)[0]?.[0];
    };
    const before = placeOf(directory);
    await closeDays({ directory, retainDays: 400, now, limits: PRICES.allLimits() }, calendar);
    const name = readdirSync(directory).find((file) => file.endsWith(".ndjson.gz")) ?? "";
    assert.deepEqual([await spent(before), await spent(placeOf(directory))], [7n, 7n]);
    const closed = placeOf(directory);
    writeFileSync(join(directory, name.slice(0, -3)), `${JSON.stringify({ ...one, id: "later" })}\n`);
    assert.deepEqual([await spent(closed), await spent(placeOf(directory))], [7n, 14n]);
    await closeDays({ directory, retainDays: 400, now, limits: PRICES.allLimits() }, calendar);
    assert.deepEqual(
      [await spent(before), await spent(closed), await spent(placeOf(directory))],
      [7n, 7n, 14n],
    );
  });
});

test("where sums are enough, no record is read", () => {
  const now = Date.parse("2026-10-31T12:00:00Z");
  const calendar = zonedCalendar("Europe/Berlin");
  const [record] = fc.sample(pricedRecord, { numRuns: 1, seed: 7 });
  const one = { ...record, tool: "codex", upstream: "openai", ts: "2026-10-22T12:00:00.000Z" } as UsageRecord;
  return withRecords([one], async (directory) => {
    const settings = settingsFor({ budgets: [{ tokens: 1, per: "month" }] }, { calendar });
    await closeDays({ directory, retainDays: 400, now, limits: PRICES.allLimits() }, calendar);
    const before = await count(directory, settings, now);
    const name = readdirSync(directory).find((file) => file.endsWith(".ndjson.gz")) ?? "";
    const { atime, mtime, size } = statSync(join(directory, name));
    writeFileSync(join(directory, name), Buffer.alloc(size));
    utimesSync(join(directory, name), atime, mtime);
    assert.deepEqual(await count(directory, settings, now), before);
  });
});
