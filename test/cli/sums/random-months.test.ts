import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  closeDays,
  keepSums,
  listMonths,
  markDeleted,
  verifyMonth,
} from "../../../src/adapters/ledger-file/closed-days.ts";
import { calendarOf } from "../../../src/core/ledger/calendar.ts";
import { GROUPINGS, type Grouping } from "../../../src/core/ledger/grouping.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { isInRollups } from "../../../src/core/ledger/rollup/rollup-sums.ts";
import {
  answerFromRecords,
  ask,
  CLOSED_AT,
  HOUR_MS,
  inScratchLedger,
  keptAs,
  LIMITS,
  recordsIn,
  ROLLUP_FILTERS,
  shown,
  toRecords,
  writeLedger,
  ZONES,
  type Question,
} from "../../helpers/ledger/asked-ledger.ts";
import { PRICES } from "../../helpers/ledger/priced-record.ts";

/** September and October are whole months that are over. */
const FROM = Date.parse("2026-08-20T00:00:00Z");
const TO = Date.parse("2026-11-03T00:00:00Z");
const records = recordsIn(FROM, TO);

const BY_ROLLUP = GROUPINGS.filter((grouping) => isInRollups(grouping));
const UNTIL_NOW: Question = { by: ["tool"], zone: "UTC", since: FROM, until: null, filter: {} };

/** Periods that mostly contain a whole month: they begin and end at the starts of months, there or in UTC, and at other times. */
const questions = fc.constantFrom(...ZONES).chain((zone): fc.Arbitrary<Question> => {
  const { startOf } = calendarOf(zone);
  const edges = ["2026-09-01", "2026-10-01", "2026-11-01"];
  const edge = fc.oneof(
    fc.constantFrom(...edges.map((day) => Date.parse(day))),
    fc.constantFrom(...edges.map((day) => startOf(day))),
    fc.constantFrom(...edges).map((day) => Date.parse(day) + HOUR_MS),
    fc.integer({ min: FROM, max: TO }),
  );
  return fc.record({
    by: fc.uniqueArray(
      fc.constantFrom(...BY_ROLLUP, "month" as const, "model" as const, "session" as const),
      { minLength: 1, maxLength: 2 },
    ),
    zone: fc.constantFrom(zone, "UTC"),
    since: fc.oneof(fc.constant(FROM), edge),
    until: fc.option(edge),
    filter: fc.constantFrom(...ROLLUP_FILTERS),
  });
});

/** What happens to a ledger between two questions. */
type Event =
  | { kind: "nothing" }
  | { kind: "caches are deleted"; isDeleted: (name: string) => boolean }
  | { kind: "a digit is wrong"; file: number; at: number; digit: number }
  | { kind: "a record arrives"; day: number }
  | { kind: "days are closed" };

const events: fc.Arbitrary<Event> = fc.oneof(
  fc.constant({ kind: "nothing" } as const),
  fc.record({ kind: fc.constant("caches are deleted" as const), isDeleted: fc.func(fc.boolean()) }),
  fc.record({
    kind: fc.constant("a digit is wrong" as const),
    file: fc.nat(),
    at: fc.nat(),
    digit: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ kind: fc.constant("a record arrives" as const), day: fc.nat() }),
  fc.constant({ kind: "days are closed" } as const),
);

/** Returns the records afterwards. */
async function happen(directory: string, all: readonly UsageRecord[], event: Event): Promise<UsageRecord[]> {
  const caches = readdirSync(directory).filter((name) => /\.(?:rollup|details|month)$/.test(name));
  if (event.kind === "caches are deleted")
    for (const name of caches) if (event.isDeleted(name)) rmSync(join(directory, name));
  if (event.kind === "a digit is wrong") writeWrongDigit(directory, event);
  if (event.kind === "days are closed")
    await closeDays(
      { directory, retainDays: 10_000, now: CLOSED_AT, limits: LIMITS },
      calendarOf("Europe/Berlin"),
    );
  const one = event.kind === "a record arrives" ? all[event.day % Math.max(1, all.length)] : undefined;
  if (one === undefined) return [...all];
  const late = { ...one, id: `late-${all.length}` };
  writeFileSync(join(directory, `${late.ts.slice(0, 10)}.ndjson`), `${JSON.stringify(late)}\n`, {
    flag: "a",
  });
  return [...all, late];
}

/** Changes a digit of one of the months. */
function writeWrongDigit(
  directory: string,
  { file, at, digit }: { file: number; at: number; digit: number },
): void {
  const months = listMonths(directory);
  const month = months[file % Math.max(1, months.length)];
  if (month === undefined) return;
  const path = join(directory, `${month}.month`);
  const text = readFileSync(path, "utf8");
  const digits = [...text.matchAll(/\d/g)];
  const { index, 0: right } = digits[at % digits.length] ?? { index: 0, 0: "0" };
  writeFileSync(path, `${text.slice(0, index)}${(Number(right) + digit) % 10}${text.slice(index + 1)}`);
}

test("months report what their records say, whatever happens to the days and the caches", async () => {
  let months = 0;
  await fc.assert(
    fc.asyncProperty(
      records,
      keptAs,
      fc.array(fc.tuple(questions, events), { minLength: 3, maxLength: 6 }),
      (drawn, kept, steps) =>
        inScratchLedger(async (directory) => {
          let all = toRecords(drawn);
          writeLedger(directory, all, kept);
          for (const [question, event] of steps) {
            // The first makes the rollups, the second the months, and the third reads them.
            for (const _ of [1, 2, 3])
              assert.deepEqual(
                shown(await ask(directory, question)),
                shown(answerFromRecords(all, question)),
              );
            months += listMonths(directory).length;
            for (const month of listMonths(directory))
              assert.notEqual(verifyMonth(directory, month, PRICES), "its sums are not those of its days");
            all = await happen(directory, all, event);
          }
        }),
    ),
    { numRuns: 25 },
  );
  assert.ok(months > 2, `${months} months`);
});

test("months report what their records say after some days were pruned, expired or deleted by hand", async () => {
  await fc.assert(
    fc.asyncProperty(
      records,
      keptAs,
      fc.func(fc.constantFrom("here", "here", "here", "here", "pruned", "by hand")),
      fc.subarray<Grouping>(["tool", "model", "key", "account"], { minLength: 1, maxLength: 2 }),
      fc.integer({ min: 20, max: 100 }),
      (drawn, kept, fateOf, by, retainDays) =>
        inScratchLedger(async (directory) => {
          const all = toRecords(drawn);
          writeLedger(directory, all, kept);
          const asked = { ...UNTIL_NOW, by };
          const expected = shown(answerFromRecords(all, asked));
          const assertSame = async () => {
            for (const _ of [1, 2, 3]) assert.deepEqual(shown(await ask(directory, asked)), expected);
          };
          await assertSame();
          for (const day of new Set(all.map(({ ts }) => ts.slice(0, 10)))) {
            const fate = fateOf(day);
            if (fate === "here") continue;
            if (fate === "pruned")
              await keepSums(directory, day, { calendar: calendarOf("UTC"), limits: LIMITS });
            for (const name of [`${day}.ndjson`, `${day}.ndjson.gz`])
              rmSync(join(directory, name), { force: true });
            if (fate === "pruned") markDeleted(directory, day);
          }
          await assertSame();
          await closeDays({ directory, retainDays, now: CLOSED_AT, limits: LIMITS }, calendarOf("UTC"));
          await assertSame();
        }),
    ),
    { numRuns: 20 },
  );
});
