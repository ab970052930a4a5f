import assert from "node:assert/strict";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { sumLedger } from "../../../src/cli/sums/sum-ledger.ts";
import type { LedgerQuestion } from "../../../src/cli/sums/sum-day.ts";
import { priceSettingsOf, defaultConfig } from "../../../src/core/config/config.ts";
import { calendarOf, zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import type { Grouping } from "../../../src/core/ledger/grouping.ts";
import type { RecordFilter } from "../../../src/core/ledger/record-filter.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { ReportBuilder, summarise, sumOptionsOf, type UsageReport } from "../../../src/core/ledger/report.ts";
import type { AccountWindows } from "../../../src/core/limits/window-names.ts";
import { anyPayer, PRICES, pricedRecord } from "./priced-record.ts";

// Ledgers of random records, and what reports on them say: by their sums, and record by record.

/** Both nights on which clocks change in Europe and America are in these days, and all of them are over. */
export const FIRST = Date.parse("2026-10-20T00:00:00Z");
export const DAYS = 16;
export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
export const CLOSED_AT = Date.parse("2026-11-20T12:00:00Z");

/** How a day's records are kept: as they were written, compressed, or some compressed and some added afterwards. */
export type Kept = "open" | "compressed" | "both";

export interface Question {
  by: Grouping[];
  zone: string;
  since: number;
  until: number | null;
  filter: RecordFilter;
  windows?: readonly AccountWindows[];
}

/** Records with their times, from one time to another. */
export const recordsIn = (from: number, to: number) =>
  fc.array(
    fc.tuple(
      pricedRecord,
      fc.integer({ min: from, max: to - 1 }),
      fc.record({
        tool: fc.constantFrom("codex", "claude-code", "aider"),
        session: fc.constantFrom(null, "s-1", "s-2"),
        agent: fc.constantFrom(null, "a-1", "a-2"),
        agent_parent: fc.constantFrom(null, "a-3"),
        agent_kind: fc.constantFrom(null, "main", "subagent"),
        turn: fc.constantFrom(null, "t-1", "t-2"),
        miss: fc.constantFrom(null, null, "tools_changed", "idle_5m"),
        miss_tokens: fc.constantFrom(null, 900, 40_000),
        user_agent: fc.constantFrom(null, "aider/1", "aider/2"),
        project: fc.constantFrom(null, "/home/ada/shop"),
        branch: fc.constantFrom(null, "main"),
        key: fc.constantFrom("default", "work"),
        upstream: anyPayer,
        route: fc.constantFrom("/messages", "/responses", "/chat/completions"),
        outcome: fc.constantFrom("completed", "cut", "error"),
        status: fc.constantFrom(200, 429),
        stream: fc.boolean(),
        ttft_ms: fc.constantFrom(null, 12, 340.5, 2100),
        duration_ms: fc.integer({ min: 2200, max: 90_000 }),
        response_id: fc.constantFrom(null, null, "resp_1", "resp_2"),
        spend: fc.constantFrom("count", "count", "attach_by_response_id", "never"),
        method: fc.constantFrom("POST", "POST", "GET"),
      }),
    ),
    { maxLength: 60 },
  );

export const records = recordsIn(FIRST, FIRST + DAYS * DAY_MS);

/** Midnights of the zone, whole hours, or any time. */
function timeIn(zone: string): fc.Arbitrary<number> {
  const calendar = zonedCalendar(zone);
  const day = fc.integer({ min: -1, max: DAYS }).map((at) => calendar.dayOf(FIRST + at * DAY_MS));
  const hour = fc.integer({ min: 0, max: DAYS * 24 }).map((at) => FIRST + at * HOUR_MS);
  return fc.oneof(
    { weight: 3, arbitrary: day.map((name) => calendar.startOf(name)) },
    { weight: 2, arbitrary: hour },
    { weight: 1, arbitrary: fc.integer({ min: FIRST, max: FIRST + DAYS * DAY_MS }) },
  );
}

/** Those that a rollup answers. */
export const ROLLUP_FILTERS: readonly RecordFilter[] = [
  {},
  {},
  { tool: "c*" },
  { model: "claude-*" },
  { upstream: "openai" },
  { key: "w*" },
];
export const FILTERS: readonly RecordFilter[] = [
  ...ROLLUP_FILTERS,
  { branch: "main" },
  { session: "s-*", model: "*" },
  { project: "/home/*", tool: "codex" },
];

export function questions(
  groupings: readonly Grouping[],
  filters: readonly RecordFilter[],
): fc.Arbitrary<Question> {
  return fc.constantFrom(...ZONES).chain((zone) =>
    fc.record({
      by: fc.uniqueArray(fc.constantFrom(...groupings), { minLength: 1, maxLength: 2 }),
      zone: fc.constant(zone),
      since: timeIn(zone),
      until: fc.option(timeIn(zone)),
      filter: fc.constantFrom(...filters),
    }),
  );
}

/** Writes the records into the files of their days. A copy of the first record of each day follows it. */
export function writeLedger(
  directory: string,
  all: readonly UsageRecord[],
  keptAs: (day: string) => Kept,
): void {
  const days = new Map<string, string[]>();
  for (const record of all) {
    const day = record.ts.slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), `${JSON.stringify(record)}\n`]);
  }
  for (const [day, lines] of days) {
    lines.push(lines[0] ?? "");
    const kept = keptAs(day);
    const half = kept === "open" ? 0 : kept === "compressed" ? lines.length : lines.length >> 1;
    if (half > 0) writeFileSync(join(directory, `${day}.ndjson.gz`), gzipSync(lines.slice(0, half).join("")));
    if (half < lines.length) writeFileSync(join(directory, `${day}.ndjson`), lines.slice(half).join(""));
    // Their times tell that one is not the other, compressed.
    if (kept === "both") utimesSync(join(directory, `${day}.ndjson.gz`), 1, 1);
  }
}

export const LIMITS = PRICES.allLimits();

/** Answers a question by the sums of a ledger, as far as there are some. */
export async function ask(
  directory: string,
  { by, zone, since, until, filter, windows }: Question,
  prices = PRICES,
): Promise<UsageReport> {
  const asked = { by, calendar: calendarOf(zone), filter, prices, windows };
  const question: LedgerQuestion = {
    directory,
    since,
    until,
    by,
    zone,
    filter,
    config: priceSettingsOf(defaultConfig),
    limits: LIMITS,
    windows,
  };
  const builder = new ReportBuilder(asked);
  for await (const day of sumLedger(question, sumOptionsOf(asked), () => {})) {
    if ("sums" in day) builder.add(day.sums);
    else if ("closed" in day)
      for (const block of day.closed.blocks()) builder.addRollup({ block, since, until: until ?? Infinity });
    else assert.fail(`${day.day} is damaged`);
  }
  return builder.finish();
}

/** Answers a question record by record. */
export function answerFromRecords(
  all: readonly UsageRecord[],
  { by, zone, since, until, filter, windows }: Question,
  prices = PRICES,
): UsageReport {
  const wanted = all.filter(
    ({ ts }) => Date.parse(ts) >= since && (until === null || Date.parse(ts) < until),
  );
  const ordered = wanted.toSorted((one, other) => (one.ts.slice(0, 10) < other.ts.slice(0, 10) ? -1 : 1));
  return summarise(ordered, { by, calendar: zonedCalendar(zone), filter, prices, windows });
}

function row({ names, sums, cost, missed }: UsageReport["total"], prices: typeof PRICES): object {
  // What rows cost is computed from columns; charge by charge it is the same.
  const [priced, expected] = [cost, sums.spending.cost(prices)].map(({ unpriced, ...others }) => ({
    ...others,
    unpriced: unpriced.map((one) => JSON.stringify(one)).toSorted(),
  }));
  assert.deepEqual(priced, expected);
  // All that sums hold, with those that are not yet there; charges are compared by what they cost.
  return { names, ...sums.encode(), spending: null, missed, cost: priced };
}

function byName(one: UsageReport["total"], other: UsageReport["total"]): number {
  return JSON.stringify(one.names) < JSON.stringify(other.names) ? -1 : 1;
}

/** Returns all that a report says, in a form that can be compared. */
export function shown({ rows, total, sandbox, unaskingTools }: UsageReport, prices = PRICES): object {
  const show = (one: UsageReport["total"]) => row(one, prices);
  return {
    rows: rows.toSorted(byName).map(show),
    total: show(total),
    sandbox: sandbox.rows.toSorted(byName).map(show),
    unaskingTools,
  };
}

export async function inScratchLedger(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-sums-"));
  try {
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Gives the records their times, ids and other members, in the order in which they are written. */
export function toRecords(drawn: readonly [UsageRecord, number, object][]): UsageRecord[] {
  return drawn
    .toSorted(([, one], [, other]) => one - other)
    .map(([record, time, more], at) => ({
      ...record,
      ...more,
      id: `r-${at}`,
      ts: new Date(time).toISOString(),
    }));
}

export const keptAs = fc.func(fc.constantFrom<Kept>("open", "compressed", "both"));
