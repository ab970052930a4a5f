import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { hasDaysToClose, readRollup } from "../../../src/adapters/ledger-file.ts";
import {
  closeDays,
  keepSums,
  markDeleted,
  readDetails,
  verifyRollup,
} from "../../../src/adapters/ledger-file/closed-days.ts";
import { sumLedger } from "../../../src/cli/sums/sum-ledger.ts";
import type { LedgerQuestion } from "../../../src/cli/sums/sum-day.ts";
import { priceSettingsOf, defaultConfig } from "../../../src/core/config/config.ts";
import { calendarOf, zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import type { AccountWindows } from "../../../src/core/limits/window-names.ts";
import { GROUPINGS, type Grouping } from "../../../src/core/ledger/grouping.ts";
import type { RecordFilter } from "../../../src/core/ledger/record-filter.ts";
import { RECORD_VERSION, type UsageRecord } from "../../../src/core/ledger/record.ts";
import { ReportBuilder, summarise, sumOptionsOf, type UsageReport } from "../../../src/core/ledger/report.ts";
import { isInRollups } from "../../../src/core/ledger/rollup/rollup-sums.ts";
import { anyPayer, PRICES, pricedRecord } from "../../helpers/ledger/priced-record.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

/** Both nights on which clocks change in Europe and America are in these days, and all of them are over. */
const FIRST = Date.parse("2026-10-20T00:00:00Z");
const DAYS = 16;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"];
const CLOSED_AT = Date.parse("2026-11-20T12:00:00Z");

/** How a day's records are kept: as they were written, compressed, or some compressed and some added afterwards. */
type Kept = "open" | "compressed" | "both";

interface Question {
  by: Grouping[];
  zone: string;
  since: number;
  until: number | null;
  filter: RecordFilter;
  windows?: readonly AccountWindows[];
}

const records = fc.array(
  fc.tuple(
    pricedRecord,
    fc.integer({ min: FIRST, max: FIRST + DAYS * DAY_MS - 1 }),
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
const ROLLUP_FILTERS: readonly RecordFilter[] = [
  {},
  {},
  { tool: "c*" },
  { model: "claude-*" },
  { upstream: "openai" },
  { key: "w*" },
];
const FILTERS: readonly RecordFilter[] = [
  ...ROLLUP_FILTERS,
  { branch: "main" },
  { session: "s-*", model: "*" },
  { project: "/home/*", tool: "codex" },
];

function questions(groupings: readonly Grouping[], filters: readonly RecordFilter[]): fc.Arbitrary<Question> {
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
function writeLedger(directory: string, all: readonly UsageRecord[], keptAs: (day: string) => Kept): void {
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

const LIMITS = PRICES.allLimits();

async function ask(
  directory: string,
  { by, zone, since, until, filter, windows }: Question,
): Promise<UsageReport> {
  const asked = { by, calendar: calendarOf(zone), filter, prices: PRICES, windows };
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

function answerFromRecords(
  all: readonly UsageRecord[],
  { by, zone, since, until, filter, windows }: Question,
): UsageReport {
  const wanted = all.filter(
    ({ ts }) => Date.parse(ts) >= since && (until === null || Date.parse(ts) < until),
  );
  const ordered = wanted.toSorted((one, other) => (one.ts.slice(0, 10) < other.ts.slice(0, 10) ? -1 : 1));
  return summarise(ordered, { by, calendar: zonedCalendar(zone), filter, prices: PRICES, windows });
}

function row({ names, sums, cost, missed }: UsageReport["total"]): object {
  // What rows cost is computed from columns; charge by charge it is the same.
  const [priced, expected] = [cost, sums.spending.cost(PRICES)].map(({ unpriced, ...others }) => ({
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

function shown({ rows, total, sandbox, unaskingTools }: UsageReport): object {
  return {
    rows: rows.toSorted(byName).map(row),
    total: row(total),
    sandbox: sandbox.rows.toSorted(byName).map(row),
    unaskingTools,
  };
}

async function inScratchLedger(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-sums-"));
  try {
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Gives the records their times, ids and other members, in the order in which they are written. */
function toRecords(drawn: readonly [UsageRecord, number, object][]): UsageRecord[] {
  return drawn
    .toSorted(([, one], [, other]) => one - other)
    .map(([record, time, more], at) => ({
      ...record,
      ...more,
      id: `r-${at}`,
      ts: new Date(time).toISOString(),
    }));
}

const keptAs = fc.func(fc.constantFrom<Kept>("open", "compressed", "both"));

test("a ledger that is cut into days, compressed or not, summed up before or not, reports what its records say", async () => {
  await fc.assert(
    fc.asyncProperty(
      records,
      keptAs,
      fc.array(questions(GROUPINGS, FILTERS), { minLength: 2, maxLength: 4 }),
      (drawn, kept, asked) =>
        inScratchLedger(async (directory) => {
          const all = toRecords(drawn);
          writeLedger(directory, all, kept);
          // The later questions find what the earlier ones have summed up, perhaps in another time zone.
          for (const question of asked)
            assert.deepEqual(shown(await ask(directory, question)), shown(answerFromRecords(all, question)));
        }),
    ),
    { numRuns: 150 },
  );
});

test("what is deleted after its sums were kept is still in the reports of its time zone", async () => {
  await fc.assert(
    fc.asyncProperty(
      records,
      keptAs,
      questions(
        GROUPINGS.filter((grouping) => isInRollups(grouping)),
        ROLLUP_FILTERS,
      ),
      fc.integer({ min: 1, max: 40 }),
      (drawn, kept, question, retainDays) =>
        inScratchLedger(async (directory) => {
          const all = toRecords(drawn);
          writeLedger(directory, all, kept);
          const calendar = calendarOf(question.zone);
          const whole = {
            ...question,
            since: calendar.startOf(calendar.dayOf(question.since)),
            until: question.until === null ? null : calendar.startOf(calendar.dayOf(question.until), 1),
          };
          const { problems } = await closeDays(
            { directory, retainDays, now: CLOSED_AT, limits: LIMITS },
            calendar,
          );
          assert.deepEqual(problems, []);
          assert.deepEqual(shown(await ask(directory, whole)), shown(answerFromRecords(all, whole)));
        }),
    ),
    { numRuns: 150 },
  );
});

const DAY = "2026-10-21";
const QUESTION: Question = { by: ["tool"], zone: "UTC", since: FIRST, until: null, filter: {} };

/** What a group's requests are, by the names of a report's counts. */
const NOTHING = {
  requests: 0,
  failed: 0,
  input_uncached: 0,
  cache_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: null as number | null,
  reasoning_unknown: 0,
};

/** Adds up one request after another, with nothing that reports are made of. Records without extra sets and repeated responses only. */
function addPlainly(all: readonly UsageRecord[], nameOf: (record: UsageRecord) => string | null): object {
  const groups = new Map<string, typeof NOTHING>();
  for (const record of all) {
    const name = JSON.stringify([nameOf(record)]);
    const sums = groups.get(name) ?? { ...NOTHING };
    groups.set(name, sums);
    if (record.tokens === null) {
      sums.failed += 1;
      continue;
    }
    // Reasoning is part of the output.
    const reasoning = record.tokens.output === 0 ? 0 : record.tokens.reasoning;
    sums.requests += 1;
    for (const kind of ["input_uncached", "cache_read", "cache_write", "output"] as const)
      sums[kind] += record.tokens[kind];
    if (reasoning === null) sums.reasoning_unknown += 1;
    else sums.reasoning = (sums.reasoning ?? 0) + reasoning;
  }
  return Object.fromEntries(groups);
}

const tokenCount = fc.oneof(fc.constant(0), fc.nat(200_000));
const plainRecords = fc.array(
  fc.tuple(
    fc.oneof(
      fc
        .record({
          input_uncached: tokenCount,
          cache_read: tokenCount,
          cache_write: tokenCount,
          output: tokenCount,
          reasoning: fc.option(tokenCount),
        })
        .map((counts) => usageRecord({ tokens: tokens(counts) })),
      fc
        .constant({
          outcome: "rejected",
          status: 429,
          usage: "absent",
          tokens: null,
          spend: "never",
        } as const)
        .map((refused) => usageRecord(refused)),
    ),
    fc.integer({ min: FIRST, max: FIRST + DAYS * DAY_MS - 1 }),
    fc.record({
      tool: fc.constantFrom("codex", "claude-code"),
      session: fc.constantFrom(null, "s-1", "s-2"),
      key: fc.constantFrom("default", "work"),
      agent_kind: fc.constantFrom(null, "main", "subagent"),
    }),
  ),
  { maxLength: 40 },
);

test("counts are those of plain addition, whether days are open, compressed or summed up", async () => {
  await fc.assert(
    fc.asyncProperty(
      plainRecords,
      keptAs,
      fc.constantFrom("tool" as const, "session" as const, "key" as const, "agent_kind" as const),
      (drawn, kept, by) =>
        inScratchLedger(async (directory) => {
          const all = toRecords(drawn).map((record, at) => ({ ...record, response_id: `resp-${at}` }));
          writeLedger(directory, all, kept);
          const expected = addPlainly(all, (record) => record[by]);
          for (const from of ["records", "the sums that the first question has kept"]) {
            const { rows } = await ask(directory, { ...QUESTION, by: [by] });
            const found = rows.map(({ names: [name], sums }) => [
              JSON.stringify([name]),
              Object.fromEntries(
                Object.keys(NOTHING).map((kind) => [kind, sums[kind as keyof typeof NOTHING]]),
              ),
            ]);
            assert.deepEqual(Object.fromEntries(found), expected, `from ${from}`);
          }
        }),
    ),
    { numRuns: 60 },
  );
});

/** Writes a day with so many records, and asks for its sums once, so that they are kept. */
async function writeSummedDay(directory: string, count: number): Promise<UsageRecord[]> {
  const drawn = fc
    .sample(pricedRecord, count)
    .map((record, at): [UsageRecord, number, object] => [
      { ...record, tokens: record.tokens },
      Date.parse(DAY) + at * 60_000,
      {},
    ]);
  const all = toRecords(drawn);
  writeLedger(directory, all, () => "open");
  await ask(directory, QUESTION);
  assert.equal(readRollup(directory, DAY)?.isIntact, true);
  return all;
}

for (const [what, change] of [
  ["a line more", (path: string) => writeFileSync(path, "torn", { flag: "a" })],
  ["another time", (path: string) => utimesSync(path, 1, 1)],
] as const) {
  test(`a day file with ${what} than when it was summed up is summed up again`, () =>
    inScratchLedger(async (directory) => {
      const all = await writeSummedDay(directory, 5);
      const rollup = join(directory, `${DAY}.rollup`);
      const before = readFileSync(rollup, "utf8");
      change(join(directory, `${DAY}.ndjson`));
      assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
      assert.notEqual(readFileSync(rollup, "utf8"), before);
    }));
}

test("a rollup with a single wrong digit, a torn one, and one of another version are made again", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    const path = join(directory, `${DAY}.rollup`);
    const right = readFileSync(path, "utf8");
    const [header = "", sums = ""] = right.split("\n");
    for (const wrong of [
      right.replace(
        sums,
        sums.replace(/\d(?=\],"reasoning")/, (digit) => `${(Number(digit) + 1) % 10}`),
      ),
      right.slice(0, -10),
      right.replace(header, header.replace('"rollup":5', '"rollup":6')),
      right.replace(header, header.replace('"rollup":5', '"rollup":4')),
      "",
    ]) {
      assert.notEqual(wrong, right);
      writeFileSync(path, wrong);
      assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
      assert.equal(readFileSync(path, "utf8"), right);
    }
  }));

const PRICED_UPSTREAMS = ["anthropic", "openai", "deepseek", "gateway", "local", "gone"];
const BY_SESSION: Question = { ...QUESTION, by: ["session", "project", "branch", "agent"] };

/** Puts lines of the same size and time in the place of a day's records: what is read of them from now on is an error. */
function hideRecords(directory: string): void {
  const path = join(directory, `${DAY}.ndjson`);
  const { size, atime, mtime } = statSync(path);
  writeFileSync(path, "x".repeat(size));
  utimesSync(path, atime, mtime);
}

test("details that are damaged, older than the records or have other names are made again, and others are used", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    await ask(directory, BY_SESSION);
    const path = join(directory, `${DAY}.details`);
    const right = readFileSync(path, "latin1");
    const [header = ""] = right.split("\n");
    for (const wrong of [
      right.slice(0, -10),
      `${right.slice(0, -10)}~${right.slice(-9)}`,
      right.replace('"branch",', ""),
      right.replace('"details":2', '"details":1'),
      right.replace(header, header.replace(/"mtime":\d/, '"mtime":9')),
      right.replace(DAY, "2026-10-22"),
      "",
    ]) {
      assert.notEqual(wrong, right);
      writeFileSync(path, wrong, "latin1");
      assert.deepEqual(shown(await ask(directory, BY_SESSION)), shown(answerFromRecords(all, BY_SESSION)));
      assert.equal(readFileSync(path, "latin1"), right);
    }
    hideRecords(directory);
    assert.deepEqual(shown(await ask(directory, BY_SESSION)), shown(answerFromRecords(all, BY_SESSION)));
  }));

test("each grouping and filter, and windows of whole hours, are answered without the records of a closed day", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 200);
    await ask(directory, BY_SESSION);
    hideRecords(directory);
    const asked: Question[] = [
      ...GROUPINGS.map((grouping): Question => ({ ...QUESTION, by: [grouping] })),
      ...FILTERS.map((filter): Question => ({ ...QUESTION, filter })),
      { ...BY_SESSION, since: Date.parse(`${DAY}T01:00:00Z`), until: Date.parse(`${DAY}T03:00:00Z`) },
    ];
    for (const question of asked)
      assert.deepEqual(shown(await ask(directory, question)), shown(answerFromRecords(all, question)));
  }));

test("windows of services' limits, which begin at any time, are answered by the records", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 60);
    await ask(directory, BY_SESSION);
    const from = Date.parse(`${DAY}T00:10:30Z`);
    const spans = [{ from, until: from + HOUR_MS / 2 }];
    const windows = PRICED_UPSTREAMS.map((upstream) => ({
      account: upstream,
      upstream,
      key: "default",
      spans,
    }));
    const question: Question = { ...QUESTION, by: ["window"], windows };
    const report = await ask(directory, question);
    assert.ok(report.rows.some(({ names: [name] }) => name?.startsWith(`${DAY} 00:10 to 00:40`)));
    assert.deepEqual(shown(report), shown(answerFromRecords(all, question)));
  }));

test("details of a day with more groups than are kept in memory say what its records say", () =>
  inScratchLedger(async (directory) => {
    const all = toRecords(
      Array.from({ length: 12_000 }, (_, at) => [
        usageRecord({ turn: `turn-${at}`, session: `s-${at % 7}` }),
        Date.parse(DAY) + at * 5_000,
        {},
      ]),
    );
    writeLedger(directory, all, () => "open");
    for (const _ of [1, 2])
      assert.deepEqual(shown(await ask(directory, BY_SESSION)), shown(answerFromRecords(all, BY_SESSION)));
    const file = readDetails(directory, DAY);
    assert.ok(file !== null && [...file.blocks()].length > 1);
    assert.equal((await verifyRollup(directory, DAY, "details")).problem, null);
  }));

test("the day on which a zone's clocks change by half an hour is divided into halves of hours", () =>
  inScratchLedger(async (directory) => {
    // Lord Howe Island, 2026-04-04T15:00Z: from eleven hours ahead to ten and a half, after a midnight at a whole hour of UTC.
    const ledger = toRecords(
      fc
        .sample(pricedRecord, 48)
        .map((record, at) => [record, Date.parse("2026-04-04T00:10:00Z") + at * (HOUR_MS / 2), {}]),
    );
    writeLedger(directory, ledger, () => "open");
    for (const zone of ["UTC", "Australia/Lord_Howe", "UTC"]) {
      const question: Question = { ...QUESTION, by: ["hour"], zone, since: Date.parse("2026-04-01") };
      assert.deepEqual(shown(await ask(directory, question)), shown(answerFromRecords(ledger, question)));
    }
    assert.equal(readDetails(directory, "2026-04-04")?.cuts.length, 47);
  }));

test("a rollup by a program that knew an earlier record format is used if that program read every line", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    const path = join(directory, `${DAY}.rollup`);
    const makeOlder = () =>
      writeFileSync(path, readFileSync(path, "utf8").replace(`"records":${RECORD_VERSION}`, '"records":1'));
    makeOlder();
    assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
    assert.match(readFileSync(path, "utf8"), /"records":1/);

    writeFileSync(join(directory, `${DAY}.ndjson`), '{"v":99}\n', { flag: "a" });
    await ask(directory, QUESTION);
    makeOlder();
    await ask(directory, QUESTION);
    assert.match(readFileSync(path, "utf8"), new RegExp(`"records":${RECORD_VERSION}`));
  }));

test("a damaged rollup whose records are deleted is said, and not counted", () =>
  inScratchLedger(async (directory) => {
    await writeSummedDay(directory, 5);
    rmSync(join(directory, `${DAY}.ndjson`));
    writeFileSync(join(directory, `${DAY}.rollup`), "{}");
    await assert.rejects(ask(directory, QUESTION), /is damaged/);
  }));

test("a directory that cannot be written reports the same, without keeping sums", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    rmSync(join(directory, `${DAY}.rollup`));
    // Its name is taken, which also stops root.
    mkdirSync(join(directory, `${DAY}.rollup`));
    assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.endsWith(".new")),
      [],
    );
  }));

test("compressing keeps every byte, and what was added to a compressed day", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 40);
    const path = join(directory, `${DAY}.ndjson`);
    const { size } = statSync(path);
    const close = () =>
      closeDays({ directory, retainDays: 400, now: CLOSED_AT, limits: LIMITS }, calendarOf("UTC"));
    assert.equal((await close()).compressed, 1);
    assert.equal(existsSync(path), false);
    assert.ok(statSync(`${path}.gz`).size < size);
    writeFileSync(path, `${JSON.stringify({ ...all[0], id: "late" })}\n`);
    const late = { ...all[0], id: "late" } as UsageRecord;
    assert.deepEqual(
      shown(await ask(directory, QUESTION)),
      shown(answerFromRecords([...all, late], QUESTION)),
    );
    assert.equal((await close()).compressed, 1);
    assert.equal(existsSync(path), false);
    assert.deepEqual(
      shown(await ask(directory, QUESTION)),
      shown(answerFromRecords([...all, late], QUESTION)),
    );
  }));

function deleteRecords(directory: string): void {
  rmSync(join(directory, `${DAY}.ndjson`));
  markDeleted(directory, DAY);
}

test("a record that arrives after the others of its day were deleted is added to their sums, and loses none", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    const close = () =>
      closeDays({ directory, retainDays: 1, now: CLOSED_AT, limits: LIMITS }, calendarOf("UTC"));
    deleteRecords(directory);
    const late = { ...all[0], id: "late" } as UsageRecord;
    writeFileSync(join(directory, `${DAY}.ndjson`), `${JSON.stringify(late)}\n`);
    for (const _ of [1, 2]) {
      assert.deepEqual(
        shown(await ask(directory, QUESTION)),
        shown(answerFromRecords([...all, late], QUESTION)),
      );
      assert.deepEqual(await close(), { compressed: 0, deleted: [], problems: [] });
    }
  }));

test("sums stay where somebody else deleted their records, also when a record of the same day arrives", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    const close = (retainDays: number) =>
      closeDays({ directory, retainDays, now: CLOSED_AT, limits: LIMITS }, calendarOf("UTC"));
    await close(400);
    rmSync(join(directory, `${DAY}.ndjson.gz`));
    const late = { ...all[0], id: "late" } as UsageRecord;
    writeFileSync(join(directory, `${DAY}.ndjson`), `${JSON.stringify(late)}\n`);
    for (const retainDays of [400, 1]) {
      assert.deepEqual(
        shown(await ask(directory, QUESTION)),
        shown(answerFromRecords([...all, late], QUESTION)),
      );
      assert.deepEqual(await close(retainDays), { compressed: 0, deleted: [], problems: [] });
    }
  }));

test("a deletion that a crash has interrupted loses no sums, counts nothing twice, and is finished", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    const close = (retainDays: number) =>
      closeDays({ directory, retainDays, now: CLOSED_AT, limits: LIMITS }, calendarOf("UTC"));
    await close(400);
    const late = { ...all[0], id: "late" } as UsageRecord;
    writeFileSync(join(directory, `${DAY}.ndjson`), `${JSON.stringify(late)}\n`);
    const expected = shown(answerFromRecords([...all, late], QUESTION));
    assert.deepEqual(shown(await ask(directory, QUESTION)), expected);
    rmSync(join(directory, `${DAY}.ndjson.gz`));
    assert.deepEqual(shown(await ask(directory, QUESTION)), expected);
    assert.deepEqual((await close(400)).compressed, 0);
    // Nothing is deleted by a clock that has leapt.
    for (const day of ["2026-11-17", "2026-11-18", "2026-11-19"])
      writeFileSync(join(directory, `${day}.ndjson`), "");
    const closed = await close(1);
    assert.deepEqual([closed.deleted[0], closed.problems], [`${DAY}.ndjson`, []]);
    assert.deepEqual(readRollup(directory, DAY)?.files, []);
    assert.deepEqual(shown(await ask(directory, QUESTION)), expected);
  }));

test("sums of deleted records of an earlier version still count", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    deleteRecords(directory);
    const path = join(directory, `${DAY}.kept`);
    writeFileSync(path, readFileSync(path, "utf8").replace('"records":1', '"records":0'));
    assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
  }));

test("a file that a crash left beside its compressed copy is neither counted nor compressed twice", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    const path = join(directory, `${DAY}.ndjson`);
    const [bytes, { atimeMs, mtimeMs }] = [readFileSync(path), statSync(path)];
    const close = () =>
      closeDays({ directory, retainDays: 400, now: CLOSED_AT, limits: LIMITS }, calendarOf("UTC"));
    await close();
    const compressed = readFileSync(`${path}.gz`);
    writeFileSync(path, bytes);
    utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
    assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
    await close();
    assert.equal(existsSync(path), false);
    assert.deepEqual(readFileSync(`${path}.gz`), compressed);
  }));

/** The caches of a ledger, which may be deleted at any time. */
function deleteCaches(directory: string): void {
  for (const name of readdirSync(directory))
    if (/\.(?:rollup|details)$/.test(name)) rmSync(join(directory, name));
}

test("deleting every cache at any time loses no sums, whether retention, prune or somebody deleted the records", async () => {
  await fc.assert(
    fc.asyncProperty(
      records,
      keptAs,
      fc.func(fc.constantFrom("here", "expired", "pruned", "by hand")),
      questions(["tool", "model", "day", "key", "account"], ROLLUP_FILTERS),
      (drawn, kept, fateOf, question) =>
        inScratchLedger(async (directory) => {
          const all = toRecords(drawn);
          writeLedger(directory, all, kept);
          const calendar = calendarOf(question.zone);
          const wanted = { calendar, limits: LIMITS };
          const days = [...new Set(all.map(({ ts }) => ts.slice(0, 10)))];
          const asked = { ...question, since: FIRST, until: null };
          await ask(directory, asked);
          for (const day of days) {
            const fate = fateOf(day);
            if (fate === "here") continue;
            if (fate !== "by hand") await keepSums(directory, day, wanted);
            // A crash here leaves kept sums beside their records.
            assert.deepEqual(shown(await ask(directory, asked)), shown(answerFromRecords(all, asked)));
            for (const name of [`${day}.ndjson`, `${day}.ndjson.gz`])
              rmSync(join(directory, name), { force: true });
            if (fate === "pruned") markDeleted(directory, day);
          }
          await closeDays({ directory, retainDays: 10_000, now: CLOSED_AT, limits: LIMITS }, calendar);
          assert.equal(hasDaysToClose({ directory, retainDays: 10_000, now: CLOSED_AT }), false);
          deleteCaches(directory);
          assert.deepEqual(shown(await ask(directory, asked)), shown(answerFromRecords(all, asked)));
        }),
    ),
    { numRuns: 60 },
  );
});

test("sums that an earlier version kept among the caches are kept apart when days are closed", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    deleteRecords(directory);
    renameSync(join(directory, `${DAY}.kept`), join(directory, `${DAY}.rollup`));
    const closing = { directory, retainDays: 400, now: CLOSED_AT, limits: LIMITS };
    assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
    assert.equal(hasDaysToClose(closing), true);
    await closeDays(closing, calendarOf("UTC"));
    assert.deepEqual(readdirSync(directory), [`${DAY}.kept`]);
    assert.equal(hasDaysToClose(closing), false);
    assert.deepEqual(shown(await ask(directory, QUESTION)), shown(answerFromRecords(all, QUESTION)));
    assert.deepEqual(await verifyRollup(directory, DAY, "kept"), { problem: null, isOnlyCopy: true });
  }));
