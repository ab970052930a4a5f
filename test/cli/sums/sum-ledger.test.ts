import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { hasDaysToClose, readRollup } from "../../../src/adapters/ledger-file.ts";
import {
  closeDays,
  keepSums,
  markDeleted,
  readDetails,
  verifyRollup,
} from "../../../src/adapters/ledger-file/closed-days.ts";
import { calendarOf } from "../../../src/core/ledger/calendar.ts";
import { GROUPINGS } from "../../../src/core/ledger/grouping.ts";
import { RECORD_VERSION, type UsageRecord } from "../../../src/core/ledger/record.ts";
import { isInRollups } from "../../../src/core/ledger/rollup/rollup-sums.ts";
import {
  answerFromRecords,
  ask,
  CLOSED_AT,
  DAY_MS,
  DAYS,
  FILTERS,
  FIRST,
  HOUR_MS,
  inScratchLedger,
  keptAs,
  LIMITS,
  questions,
  records,
  ROLLUP_FILTERS,
  shown,
  toRecords,
  writeLedger,
  type Question,
} from "../../helpers/ledger/asked-ledger.ts";
import { pricedRecord } from "../../helpers/ledger/priced-record.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

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

test("what was added to a day since it was summed up counts once after the day is compressed", () =>
  inScratchLedger(async (directory) => {
    const all = await writeSummedDay(directory, 5);
    const path = join(directory, `${DAY}.ndjson`);
    const late = { ...all[0], id: "late" } as UsageRecord;
    writeFileSync(path, `${JSON.stringify(late)}\n`, { flag: "a" });
    // Files that are written within one tick of the clock have the same time.
    utimesSync(path, CLOSED_AT / 1000, CLOSED_AT / 1000);
    await closeDays({ directory, retainDays: 400, now: CLOSED_AT, limits: LIMITS }, calendarOf("UTC"));
    for (const _ of [1, 2])
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
