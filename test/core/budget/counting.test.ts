import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BudgetBook, type EncodedBook } from "../../../src/core/budget/book.ts";
import { standingsOf } from "../../../src/core/budget/standing.ts";
import { needsRecords, spentInSums } from "../../../src/core/budget/history.ts";
import { NO_STATE } from "../../../src/core/budget/state.ts";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import { DaySums } from "../../../src/core/ledger/day-sums.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { summarise } from "../../../src/core/ledger/report.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { timeSlots } from "../../../src/core/price/time-slots.ts";
import { bookFor, PRICES, settingsFor, spentIn, standingIn } from "../../helpers/budget/budget-book.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

/** In Berlin it is an hour later. */
const NOW = Date.parse("2026-11-21T11:30:00Z");

const record = (changes: Partial<UsageRecord> = {}) =>
  usageRecord({ ts: "2026-11-21T11:00:00.000Z", model: "plain", model_requested: null, ...changes });

const ABSENT = { outcome: "cut", usage: "absent", spend: "never", tokens: null } as const;

/** What one budget counts of records: dollars or tokens, and what of it is assumed. */
function counted(budget: object, records: readonly UsageRecord[]): [spent: string, assumed: string] {
  const book = bookFor({ budgets: [{ per: "day", ...budget }] }, NOW);
  for (const one of records) book.add(one);
  const { spent, assumed } = standingIn(book, NOW);
  const write = (amount: bigint) => ("usd" in budget ? formatMoney(amount) : String(amount));
  return [write(spent), write(assumed)];
}

const SET = tokens({ input_uncached: 1_000, cache_read: 200, cache_write: 30, output: 4 });

const CASES: [what: string, budget: object, changes: Partial<UsageRecord>, spent: string, assumed: string][] =
  [
    ["dollars", { usd: 1 }, { tokens: SET }, "0.00112", "0"],
    ["all tokens", { tokens: 1 }, { tokens: SET }, "1234", "0"],
    ["tokens of uncached input", { tokens: 1, class: "input" }, { tokens: SET }, "1000", "0"],
    ["tokens read from cache", { tokens: 1, class: "cacheRead" }, { tokens: SET }, "200", "0"],
    ["tokens written to cache", { tokens: 1, class: "cacheWrite" }, { tokens: SET }, "30", "0"],
    ["tokens of output", { tokens: 1, class: "output" }, { tokens: SET }, "4", "0"],
    [
      "a model without a price, at the dearest one",
      { usd: 1 },
      { tokens: SET, model: "nobody" },
      "0.0056",
      "0.0056",
    ],
    ["no model, at the dearest price", { usd: 1 }, { tokens: SET, model: null }, "0.0056", "0.0056"],
    [
      "a model without a price, if allowed",
      { usd: 1, unpriced: "allow" },
      { tokens: SET, model: "nobody" },
      "0",
      "0",
    ],
    [
      "a tool without a price, with 0.03 a call",
      { usd: 1 },
      { tokens: SET, server_tools: { x: 2 } },
      "0.06112",
      "0.06",
    ],
    [
      "a tool of a model without a price, with 0.03 a call",
      { usd: 1 },
      { tokens: SET, model: "nobody", server_tools: { x: 1 } },
      "0.0356",
      "0.0356",
    ],
    [
      "a tool of a response that was cut before its usage",
      { usd: 1 },
      { ...ABSENT, bytes_in: 2_999, bytes_out: 31, server_tools: { x: 1 } },
      "0.03111",
      "0.03111",
    ],
    [
      "a tool without a price, if allowed, without it",
      { usd: 1, unpriced: "allow" },
      { tokens: SET, server_tools: { x: 1 } },
      "0.00112",
      "0",
    ],
    [
      "unknown usage by size, at the model's price",
      { usd: 1 },
      { ...ABSENT, bytes_in: 2_999, bytes_out: 31 },
      "0.00111",
      "0.00111",
    ],
    [
      "unknown usage of an unpriced model",
      { usd: 1 },
      { ...ABSENT, model: "nobody", bytes_in: 3_000, bytes_out: 30 },
      "0.0055",
      "0.0055",
    ],
    [
      "the text of a stream without usage, not its size",
      { usd: 1 },
      { ...ABSENT, bytes_in: 2_999, bytes_out: 660_000, output_estimate: 4_000 },
      "0.041",
      "0.041",
    ],
    [
      "nothing of a stream's size if no text has come",
      { usd: 1 },
      { ...ABSENT, bytes_in: 2_999, bytes_out: 660_000, output_estimate: 0 },
      "0.001",
      "0.001",
    ],
    [
      "the text of a stream that was cut beyond the output that its start counts",
      { usd: 1 },
      { tokens: SET, usage: "partial", outcome: "cut", output_estimate: 4_004 },
      "0.04112",
      "0.04",
    ],
    [
      "no text beyond the output that is counted",
      { usd: 1 },
      { tokens: SET, usage: "partial", outcome: "cut", output_estimate: 3 },
      "0.00112",
      "0",
    ],
    [
      "what was reserved for a request that was abandoned, not its bytes",
      { usd: 1 },
      { ...ABSENT, bytes_in: 4_000_000, bytes_out: 0, reserved_input: 5_000, reserved_output: 20_000 },
      "0.205",
      "0.205",
    ],
    [
      "the text of a stream if it is more than was reserved",
      { usd: 1 },
      { ...ABSENT, bytes_in: 3, output_estimate: 4_000, reserved_input: 1_000, reserved_output: 100 },
      "0.041",
      "0.041",
    ],
    [
      "the output that was reserved beyond what a stream that was cut has told",
      { tokens: 1 },
      { tokens: SET, usage: "partial", outcome: "cut", output_estimate: 9, reserved_output: 104 },
      "1334",
      "100",
    ],
    [
      "in tokens, the text of a stream that was cut",
      { tokens: 1 },
      { tokens: SET, usage: "partial", outcome: "cut", output_estimate: 4_004 },
      "5234",
      "4000",
    ],
    [
      "no text of a stream that was cut, if allowed",
      { usd: 1, unpriced: "allow" },
      { tokens: SET, usage: "partial", outcome: "cut", output_estimate: 4_004 },
      "0.00112",
      "0",
    ],
    [
      "what was reserved as the kind of cache write that it may have been",
      { usd: 1 },
      {
        ...ABSENT,
        bytes_in: 3,
        bytes_out: 0,
        reserved_input: 5_000,
        reserved_output: 100,
        reserved_class: "cache_write_5m",
      },
      "0.011",
      "0.011",
    ],
    [
      "what was reserved at the tier that was asked for, whose price is not known",
      { usd: 1 },
      { ...ABSENT, bytes_out: 0, reserved_input: 5_000, reserved_output: 100, reserved_tier: "priority" },
      "0.03",
      "0.03",
    ],
    [
      "not at the tier that was asked for, where the service says which it gave",
      { usd: 1 },
      {
        ...ABSENT,
        bytes_out: 0,
        reserved_input: 5_000,
        reserved_output: 100,
        reserved_tier: "priority",
        service_tier: "standard",
      },
      "0.006",
      "0.006",
    ],
    [
      "in tokens, no cache write that nobody reported",
      { tokens: 1, class: "input" },
      { ...ABSENT, bytes_in: 3, reserved_input: 5_000, reserved_output: 1, reserved_class: "cache_write_1h" },
      "5000",
      "5000",
    ],
    [
      "a cache that the input does not contain, where nothing decides",
      { tokens: 1, class: "cacheRead" },
      {
        tokens: tokens({ input_uncached: 50, output: 20 }),
        usage: "partial",
        flags: ["cached_exceeds_prompt", "undecided"],
        raw_usage: { input_tokens: 50, output_tokens: 20, input_tokens_details: { cached_tokens: 5_450 } },
      },
      "5450",
      "5450",
    ],
    [
      "reasoning that the output does not contain, where nothing decides",
      { tokens: 1 },
      {
        tokens: tokens({ input_uncached: 50, output: 20 }),
        usage: "partial",
        flags: ["reasoning_exceeds_output", "undecided"],
        raw_usage: { prompt_tokens: 50, completion_tokens_details: { reasoning_tokens: 300 } },
      },
      "370",
      "300",
    ],
    [
      "the higher of two figures that contradict each other",
      { tokens: 1 },
      {
        tokens: SET,
        usage: "partial",
        raw_usage: { input_tokens: 1_000, earlier: { input_tokens: 2_230, output_tokens: 9 } },
      },
      "2239",
      "1005",
    ],
    ["unknown usage, if allowed", { usd: 1, unpriced: "allow" }, { ...ABSENT, bytes_in: 3_000 }, "0", "0"],
    [
      "unknown usage in tokens, by size",
      { tokens: 1 },
      { ...ABSENT, bytes_in: 3_001, bytes_out: 1 },
      "1002",
      "1002",
    ],
    [
      "partial usage, which is a lower bound",
      { usd: 1 },
      { tokens: SET, usage: "partial", outcome: "cut" },
      "0.00112",
      "0",
    ],
    [
      "a bill",
      { usd: 1 },
      { tokens: SET, model: "nobody", billed_usd: "0.123456789012" },
      "0.123456789012",
      "0",
    ],
    ["the tokens of what was billed", { tokens: 1 }, { tokens: SET, billed_usd: "0.1" }, "1234", "0"],
    [
      "nothing at an upstream that takes no key",
      { usd: 1 },
      { tokens: SET, model: "nobody", upstream: "local" },
      "0",
      "0",
    ],
    ["unknown usage there", { usd: 1 }, { ...ABSENT, model: "nobody", upstream: "local" }, "0", "0"],
    ["tokens there", { tokens: 1 }, { tokens: SET, upstream: "local" }, "1234", "0"],
    ["nothing of the sandbox", { tokens: 1 }, { tokens: SET, upstream: "sandbox" }, "0", "0"],
    ["nothing for a refusal", { tokens: 1 }, { ...ABSENT, outcome: "rejected", status: 402 }, "0", "0"],
    ["nothing for a plain error", { tokens: 1 }, { ...ABSENT, outcome: "error", status: 529 }, "0", "0"],
    [
      "nothing for what never spends",
      { tokens: 1 },
      { usage: "none", spend: "never", tokens: null },
      "0",
      "0",
    ],
    ["nothing of yesterday", { tokens: 1 }, { tokens: SET, ts: "2026-11-20T22:59:59.999Z" }, "0", "0"],
    [
      "the first moment of today",
      { tokens: 1 },
      { tokens: SET, ts: "2026-11-20T23:00:00.000Z" },
      "1234",
      "0",
    ],
    [
      "what is dated ahead of the clock",
      { tokens: 1 },
      { tokens: SET, ts: "2026-12-20T23:00:00.000Z" },
      "1234",
      "0",
    ],
    [
      "nothing of a time that no calendar has",
      { tokens: 1 },
      { tokens: SET, ts: "+012026-11-21T11:00:00.000Z" },
      "0",
      "0",
    ],
    ["nothing of a time that is none", { tokens: 1 }, { tokens: SET, ts: "yesterday" }, "0", "0"],
    [
      "what is billed besides, at its own model's price",
      { usd: 1 },
      {
        tokens: SET,
        extra: [extraTokens({ type: "advisor_message", model: "dear", billable: true, output: 10 })],
      },
      "0.00162",
      "0",
    ],
    [
      "nothing of what is billed only in some cases",
      { tokens: 1 },
      { tokens: SET, extra: [extraTokens({ type: "message", model: "dear", billable: null, output: 10 })] },
      "1234",
      "0",
    ],
  ];

for (const [what, budget, changes, spent, assumed] of CASES)
  test(`a budget counts ${what}`, () => {
    assert.deepEqual(counted(budget, [record(changes)]), [spent, assumed]);
  });

const creation = record({
  outcome: "queued",
  usage: "pending",
  spend: "attach_by_response_id",
  tokens: null,
  bytes_in: 3_000,
  bytes_out: 0,
});
const fetch = (id: string, count = 7) =>
  record({
    ...creation,
    id,
    tool: "curl",
    method: "GET",
    route: "/responses/{id}",
    outcome: "completed",
    usage: "final",
    ts: "2026-11-22T11:00:00.000Z",
    tokens: tokens({ output: count }),
  });

test("a background response counts by its size until a fetch brings its usage, which counts once, when it was created", () => {
  assert.deepEqual(counted({ tokens: 1 }, [creation]), ["1000", "1000"]);
  assert.deepEqual(counted({ tokens: 1 }, [creation, fetch("a")]), ["7", "0"]);
  assert.deepEqual(counted({ tokens: 1 }, [creation, fetch("a"), fetch("b")]), ["7", "0"]);
  assert.deepEqual(counted({ tokens: 1 }, [fetch("a"), creation, fetch("b")]), ["7", "0"]);
  assert.deepEqual(counted({ tokens: 1 }, [fetch("a")]), ["0", "0"]);
});

test("of thousands of background responses that nobody fetches, each counts, and few records are kept", () => {
  const book = bookFor({ budgets: [{ tokens: 1, per: "day" }] }, NOW);
  for (let i = 0; i < 3_000; i += 1) book.add({ ...creation, id: `c${i}`, response_id: `r${i}` });
  assert.equal(standingIn(book, NOW).spent, 3_000_000n);
  assert.equal(book.encode().waiting.length, 1_000);
});

test("each budget counts what is its own: of a tool, a group, a project, a key, and all", () => {
  const budgets = [{ tokens: 1, per: "day" }];
  const settings = settingsFor(
    {
      tools: { codex: { budgets } },
      groups: { odd: { budgets } },
      projects: { "~/shop/": { budgets } },
      keys: { work: { budgets } },
      budgets,
    },
    { groupOf: (tool) => (tool.length % 2 === 1 ? "odd" : null) },
  );
  const book = new BudgetBook(settings, NO_STATE, NOW);
  const one = (output: number, changes: Partial<UsageRecord>) =>
    book.add(record({ tokens: tokens({ output }), ...changes }));
  one(1, {});
  one(10, { tool: "zed" });
  one(100, { tool: "aider2", project: "/home/ada/shop" });
  one(1_000, { tool: "aider2", project: "/home/ada/shop/x", key: "work" });
  const spent = Object.fromEntries(
    standingsOf(book, NOW).map(({ budget, spent: sum }) => [budget.id, Number(sum)]),
  );
  assert.deepEqual(spent, {
    "tool codex: tokens per day": 1,
    "group odd: tokens per day": 11,
    "project /home/ada/shop: tokens per day": 100,
    "key work: tokens per day": 1_000,
    "all: tokens per day": 1_111,
  });
});

const REAL_PRICES = priceBook({ default: { baseUrl: "https://api.openai.com/v1" } });

const anyRecord = fc
  .record({
    ts: fc.constantFrom("2026-11-20T22:59:59.999Z", "2026-11-20T23:00:00.000Z", "2026-11-21T10:00:00.000Z"),
    model: fc.constantFrom("gpt-5.4", "gpt-5-mini", "o3", "nobody-knows"),
    service_tier: fc.constantFrom(null, "flex", "scale"),
    billed_usd: fc.constantFrom(null, null, "0.000001000000000001"),
    counts: fc.option(
      fc.record({ input_uncached: fc.nat(300_000), cache_read: fc.nat(99), output: fc.nat(99) }),
    ),
    bytes_in: fc.nat(99_999),
  })
  .map(({ counts, ...rest }) =>
    usageRecord({
      ...rest,
      ...(counts === null ? ABSENT : { tokens: tokens(counts) }),
      model_requested: null,
    }),
  );

test("what is known to be spent is what a report of the window says, to the last digit", () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 30 }), (records) => {
      const settings = settingsFor({ budgets: [{ usd: 1, per: "month" }] }, { prices: REAL_PRICES });
      const book = new BudgetBook(settings, NO_STATE, NOW);
      for (const one of records) book.add(one);
      const report = summarise(records, {
        by: ["tool"],
        calendar: settings.calendar,
        prices: REAL_PRICES,
        filter: {},
      });
      const { spent, assumed } = standingIn(book, NOW);
      assert.equal(spent - assumed, report.total.cost.amount);
      assert.equal(assumed > 0n, spent > report.total.cost.amount);
    }),
  );
});

test("any order, and any cut into books that go on from each other's data, give the same count", () => {
  const settings = settingsFor({
    budgets: [
      { usd: 1, per: "day" },
      { tokens: 1, per: "month" },
      { usd: 1, rolling: 30 },
    ],
  });
  const all = fc
    .array(anyRecord, { maxLength: 30 })
    .chain((records) =>
      fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length }), fc.nat(30)),
    );
  fc.assert(
    fc.property(all, ([records, shuffled, cut]) => {
      const whole = new BudgetBook(settings, NO_STATE, NOW);
      for (const one of records) whole.add(one);
      const first = new BudgetBook(settings, NO_STATE, NOW);
      for (const one of shuffled.slice(0, cut)) first.add(one);
      const second = new BudgetBook(settings, NO_STATE, NOW);
      second.recount(JSON.parse(JSON.stringify(first.encode())) as EncodedBook, []);
      for (const one of shuffled.slice(cut)) second.add(one);
      assert.deepEqual(spentIn(second, NOW), spentIn(whole, NOW));
    }),
  );
});

test("sums of a day count as its records do", () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 30 }), (records) => {
      const settings = settingsFor(
        {
          budgets: [
            { usd: 1, per: "month" },
            { tokens: 1, per: "month" },
            { tokens: 2, class: "output", per: "month" },
          ],
        },
        { prices: REAL_PRICES },
      );
      const [byRecord, bySum] = [
        new BudgetBook(settings, NO_STATE, NOW),
        new BudgetBook(settings, NO_STATE, NOW),
      ];
      const axes = { namesOf: (one: { tool: string; key: string }) => [one.tool, one.key], model: -1 };
      const sums = new DaySums({ axes, slots: timeSlots(REAL_PRICES.allLimits()), filter: {} });
      for (const one of records) {
        byRecord.add(one);
        sums.add(one);
      }
      for (const { names, ...tally } of sums.encode().groups) {
        const [tool, key] = names;
        const spent = spentInSums(JSON.parse(JSON.stringify(tally)) as typeof tally, REAL_PRICES);
        assert.ok(spent !== null);
        bySum.addSum(
          { tool: tool ?? "", key: key ?? "", project: null },
          Date.parse("2026-11-20T00:00:00.000Z"),
          spent,
        );
      }
      assert.deepEqual(spentIn(bySum, NOW), spentIn(byRecord, NOW));
    }),
  );
});

test("sums from which something was left out are not used", () => {
  const sums = new DaySums({
    axes: { namesOf: () => ["codex"], model: -1 },
    slots: timeSlots(REAL_PRICES.allLimits()),
    filter: {},
  });
  sums.add(record());
  const [group] = sums.encode().groups;
  assert.ok(group !== undefined);
  assert.equal(spentInSums({ ...group, spending: { ...group.spending, leftOut: 1 } }, PRICES), null);
});

const day = (date: string) => ({ from: Date.parse(date), until: Date.parse(date) + 86_400_000 });

test("a book says since when it needs records, and of which days their sums are enough", () => {
  const needs = (budget: object, ...dates: string[]) => {
    const book = bookFor({ budgets: [{ tokens: 1, ...budget }] }, NOW);
    return [
      new Date(book.neededSince(NOW)).toISOString().slice(0, 16),
      ...dates.map((date) => needsRecords(book, day(date), NOW)),
    ];
  };
  // Days of Berlin do not begin at midnight UTC, nor do its months.
  assert.deepEqual(needs({ per: "month" }, "2026-10-31", "2026-11-01", "2026-11-20", "2026-11-21"), [
    "2026-10-31T23:00",
    true,
    false,
    false,
    true,
  ]);
  assert.deepEqual(needs({ per: "day" }, "2026-11-19", "2026-11-20", "2026-11-21"), [
    "2026-11-20T23:00",
    false,
    true,
    true,
  ]);
  assert.deepEqual(needs({ per: "hour" }, "2026-11-20", "2026-11-21"), ["2026-11-21T11:00", false, true]);
  assert.deepEqual(needs({ rolling: 48 }, "2026-11-18", "2026-11-19", "2026-11-20"), [
    "2026-11-19T11:00",
    false,
    true,
    true,
  ]);
  assert.equal(bookFor({}, NOW).neededSince(NOW), NOW);
});

test("memory is bounded: a book of rolling windows remembers no more cells than they have, and some", () => {
  const settings = settingsFor(
    {
      budgets: [
        { tokens: 1, rolling: 2 },
        { tokens: 1, rolling: 8_784 },
        { tokens: 1, per: "hour" },
      ],
    },
    { calendar: zonedCalendar("UTC") },
  );
  const book = new BudgetBook(settings, NO_STATE, 0);
  const minutes = 60 * 24 * 500;
  for (let minute = 0; minute < minutes; minute += 4)
    book.add(record({ ts: new Date(minute * 60_000).toISOString(), tokens: tokens({ output: 1 }) }));
  const [two, year, hour] = book.encode().gauges.map(({ cells }) => cells.length);
  assert.ok((two ?? 999) <= 2 * (24 + 48) && (hour ?? 999) <= 2 * 48 && (year ?? 0) >= 8_784);
  const end = minutes * 60_000;
  assert.deepEqual(
    standingsOf(book, end).map(({ isWhole, spent }) => [isWhole, spent]),
    [
      [true, 30n],
      [true, BigInt(8_784 * 15)],
      [true, 0n],
    ],
  );
});

test("a book says when the clock was set back further than it remembers", () => {
  const book = bookFor({ budgets: [{ tokens: 1, per: "hour" }] }, NOW);
  const hours = Array.from({ length: 200 }, (_, hour) => NOW + hour * 3_600_000);
  for (const hour of hours)
    book.add(record({ ts: new Date(hour).toISOString(), tokens: tokens({ output: 1 }) }));
  const at = (now = 0) => {
    const { isWhole, spent } = standingIn(book, now);
    return [isWhole, spent];
  };
  assert.deepEqual(at(hours[199]), [true, 1n]);
  assert.deepEqual(at(hours[160]), [true, 40n]);
  assert.deepEqual(
    [standingIn(book, NOW).isWhole, book.isWhole(NOW), book.isWhole(NOW + 199 * 3_600_000)],
    [false, false, true],
  );
});
