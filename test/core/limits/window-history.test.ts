import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { nameWindows } from "../../../src/core/limits/window-names.ts";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import { encodeLimits, nameAccount, payerOf } from "../../../src/core/limits/account-limits.ts";
import { listSpans, noteResets, parseResets } from "../../../src/core/limits/window-history.ts";
import type { Choice } from "../../../src/core/decide/choose-upstream.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NINE = Date.UTC(2026, 10, 29, 9);

function reset(window: string, resetsAt: number | null) {
  return { window, usedPercent: 10, limit: null, remaining: null, resetsAt };
}

function noteAll(...resets: number[]): readonly number[] {
  const noted = resets.reduce(
    (known, at) => noteResets(known, [reset("5h", at)]),
    new Map() as ReturnType<typeof noteResets>,
  );
  return noted.get("5h") ?? [];
}

test("a reset is kept once, whatever a service rounds, and an earlier one never", () => {
  const next = NINE + 5 * HOUR;
  assert.deepEqual(noteAll(NINE, NINE + 2 * MINUTE, NINE - MINUTE, next, NINE, next), [NINE, next]);
  const known = noteResets(new Map(), [reset("5h", NINE)]);
  assert.equal(noteResets(known, [reset("5h", NINE), reset("requests", NINE), reset("7d", null)]), known);
});

test("a bounded number of resets is kept: the last", () => {
  const resets = noteAll(...Array.from({ length: 310 }, (_, at) => NINE + at * 5 * HOUR));
  assert.deepEqual([resets.length, resets[0]], [300, NINE + 10 * 5 * HOUR]);
});

test("windows overlap nowhere: one that reset early ends where the next begins", () => {
  assert.deepEqual(listSpans([NINE, NINE + 3 * HOUR, NINE + 20 * HOUR], 5 * HOUR), [
    { from: NINE - 5 * HOUR, until: NINE - 2 * HOUR },
    { from: NINE - 2 * HOUR, until: NINE + 3 * HOUR },
    { from: NINE + 15 * HOUR, until: NINE + 20 * HOUR },
  ]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 200 })), (minutes) => {
      const spans = listSpans(noteAll(...minutes.map((at) => NINE + at * 7 * MINUTE)), 5 * HOUR);
      for (const [at, { from, until }] of spans.entries()) {
        assert.ok(from < until && until - from <= 5 * HOUR);
        assert.ok(at === 0 || (spans[at - 1]?.until ?? Infinity) <= from);
      }
    }),
  );
});

test("resets are read as they were written, and what is damaged is not known", () => {
  const history = new Map([["work/ci", noteResets(new Map(), [reset("5h", NINE), reset("7d", NINE)])]]);
  const text = encodeLimits(new Map([["work/ci", new Map()]]), history);
  assert.deepEqual(parseResets(text), history);
  assert.deepEqual(parseResets("{"), new Map());
  assert.deepEqual(
    parseResets(text.replace('"5h"', '"a sentence"')).get("work/ci"),
    new Map([["7d", [NINE]]]),
  );
  assert.deepEqual(parseResets(text.replaceAll(String(NINE), '"x"')).get("work/ci"), new Map());
});

test("a request belongs to the window of the account that paid, from its first moment to its last", () => {
  const windows = [
    { account: "work/ci", upstream: "work", key: "ci", spans: listSpans([NINE, NINE + 24 * HOUR], 5 * HOUR) },
    {
      account: "plan:claude",
      upstream: "plan:claude",
      key: "plan:claude",
      spans: listSpans([NINE], 24 * HOUR),
    },
  ];
  const nameOf = nameWindows(windows, zonedCalendar("UTC"));
  const at = (time: number, upstream: string, key: string) =>
    nameOf({ ts: new Date(time).toISOString(), upstream, key });
  assert.equal(at(NINE - 5 * HOUR, "work", "ci"), "2026-11-29 04:00 to 09:00 work/ci");
  assert.equal(at(NINE - 1, "work", "ci"), "2026-11-29 04:00 to 09:00 work/ci");
  assert.equal(at(NINE, "work", "ci"), null);
  assert.equal(at(NINE - 5 * HOUR - 1, "work", "ci"), null);
  assert.equal(at(NINE - 1, "work", "other"), null);
  assert.equal(
    at(NINE - 1, "plan:claude", "plan:claude"),
    "2026-11-28 09:00 to 2026-11-29 09:00 plan:claude",
  );
});

test("the records of an account are found by its name", () => {
  const upstreams = { work: { key: "shared" } };
  for (const [upstream, key] of [
    ["work", "shared"],
    ["work", "ci"],
    ["plan:claude", "plan:claude"],
    ["own:work", "own:work/3f2a91c0"],
  ] as const) {
    const own = upstream === "work" ? "shared" : upstream;
    const from = {
      upstream: { name: upstream, recordedAs: upstream, key: own },
      key: { name: key },
    } as unknown as Choice;
    assert.deepEqual(payerOf(nameAccount(from), upstreams), { upstream, key });
  }
});
