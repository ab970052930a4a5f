import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BudgetBook } from "../../../src/core/budget/book.ts";
import { boundRequest } from "../../../src/core/budget/estimate.ts";
import { SizeReader } from "../../../src/core/budget/size-reader.ts";
import type { Reservation } from "../../../src/core/budget/running.ts";
import { standingsOf } from "../../../src/core/budget/standing.ts";
import { NO_STATE } from "../../../src/core/budget/state.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import {
  bookFor,
  budgetRequest,
  budgetsFrom,
  PRICES,
  settingsFor,
  standingIn,
} from "../../helpers/budget/budget-book.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

/** In Berlin it is an hour later. */
const NOW = Date.parse("2026-11-21T11:30:00Z");
const HOUR = 3_600_000;
const MIDNIGHT = Date.parse("2026-11-21T23:00:00Z");
const USD = 10n ** 30n;

const record = (output: number, changes: Partial<UsageRecord> = {}) =>
  usageRecord({ ts: "2026-11-21T11:00:00.000Z", model: "plain", tokens: tokens({ output }), ...changes });

/** Reserves for a request, which must not be refused. */
function admitted(book: BudgetBook, request = budgetRequest(), now = NOW): Reservation {
  assert.equal(book.judge(request, now), null);
  const { reservation } = book.reserve(request, now);
  assert.ok(reservation !== null);
  return reservation;
}

/** Reserves for as many of these requests as may go. */
function admitSome(book: BudgetBook, count: number): Reservation[] {
  return Array.from({ length: count }, () =>
    book.judge(budgetRequest(), NOW) === null ? [admitted(book)] : [],
  ).flat();
}

/** Returns what refuses a request. */
const refusedBy = (book: BudgetBook, request = budgetRequest(), now = NOW) => book.judge(request, now);

/** Requests of which each spends exactly its estimate: 1,000 tokens of input, which are written to a cache, and 100 of output. */
const WRITTEN = { cache_write: 1_000 };
const EXACT = tokens({ ...WRITTEN, output: 100 });

test("of 200 requests at once, as many are admitted as there is room for, and the limit is not exceeded", () => {
  // Each costs 0.003 dollars.
  const book = bookFor({ budgets: [{ usd: 0.03, per: "day" }] }, NOW);
  const running = admitSome(book, 200);
  assert.equal(running.length, 10);
  for (const reservation of running) book.settle(reservation, record(0, { tokens: EXACT }), NOW);
  assert.equal(standingIn(book, NOW).spent, (3n * USD) / 100n);
  assert.equal(standingIn(book, NOW).reserved, 0n);
  assert.equal(book.runningCount, 0);
});

test("the limit is exceeded by less than one request, and by what requests cost more than they were reserved for", () => {
  const book = bookFor({ budgets: [{ usd: 0.03, per: "day" }] }, NOW);
  // The first spends a little, so that the last one begins with a little room.
  book.settle(admitted(book), record(99), NOW);
  const limit = (3n * USD) / 100n;
  const running = admitSome(book, 200);
  assert.equal(running.length, 10);
  // Each costs 0.001 more than the 0.003 that it was reserved for.
  const dearer = record(0, { tokens: tokens({ ...WRITTEN, output: 200 }) });
  for (const reservation of running) book.settle(reservation, { ...dearer, id: String(Math.random()) }, NOW);
  const spent = standingIn(book, NOW).spent;
  const [cost, more] = [(4n * USD) / 1_000n, USD / 1_000n];
  assert.ok(spent > limit && spent < limit + cost + 9n * more, String(spent));
});

test("a request is reserved for by its size; by what is usual for its tool, once that is known and less", () => {
  const book = bookFor({ budgets: [{ tokens: 1_000_000, per: "day" }] }, NOW);
  const reservedFor = (request = budgetRequest()) => {
    const reservation = admitted(book, request);
    const reserved = standingIn(book, NOW).reserved;
    book.settle(reservation, null, NOW);
    return reserved;
  };
  assert.equal(reservedFor(), 1_100n);
  assert.equal(reservedFor(budgetRequest({ input: 1_001, output: 4_096 })), 5_097n);
  assert.equal(reservedFor(budgetRequest({ input: 1e9, output: 1e9 })), 3_000_000n);
  const teach = (spent: UsageRecord) => book.settle(admitted(book), spent, NOW);
  for (let i = 1; i <= 7; i += 1) teach(record(10));
  assert.equal(reservedFor(), 1_100n, "7 are too few");
  teach(record(10));
  assert.equal(reservedFor(), 10n);
  assert.equal(reservedFor(budgetRequest({ tool: "zed" })), 1_100n, "another tool");
  // Of 10 requests, one may be dearer.
  teach(record(500));
  teach(record(20));
  assert.equal(reservedFor(), 20n);
  for (let i = 0; i < 32; i += 1) teach(record(0, { tokens: tokens({ cache_read: 9_000, output: 5_000 }) }));
  assert.equal(reservedFor(), 1_100n, "its size bounds it");
});

test("input that cost more than its size allowed is reserved for by its size, however little the output usually is", () => {
  const inTokens = taught({ tokens: 1e9 }, { input_uncached: 1_050, output: 10 });
  admitted(inTokens);
  assert.equal(inTokens.gauges[0]?.reserved, 1_000n + 10n);
  const inDollars = taught({ usd: 100 }, { cache_write: 1_050, output: 10 });
  admitted(inDollars);
  assert.equal(inDollars.gauges[0]?.reserved, (2n * USD) / 1_000n + USD / 10_000n);
});

/** A book in whose budgets nine requests of codex have spent so much of 1,000 tokens of input and 100 of output. */
function taught(limit: object, spent: Parameters<typeof tokens>[0]): BudgetBook {
  const book = bookFor({ budgets: [{ ...limit, per: "day" }] }, NOW);
  for (let count = 0; count < 9; count += 1)
    book.settle(admitted(book), record(0, { tokens: tokens(spent) }), NOW);
  return book;
}

test("small requests do not vouch for large ones: what is usual is a share of what the size allows", () => {
  const book = taught({ tokens: 1e9 }, { input_uncached: 700, output: 50 });
  const [gauge] = book.gauges;
  admitted(book, budgetRequest({ input: 100_000, output: 20_000 }));
  assert.equal(gauge?.reserved, 70_000n + 10_000n);
});

test("in dollars, input that is usually cached is reserved for by what it costs, whatever the output", () => {
  // 1,000 tokens read from the cache cost a tenth of their price.
  const book = taught({ usd: 100 }, { cache_read: 1_000, output: 1 });
  admitted(book, budgetRequest({ input: 100_000, output: 1_000 }));
  // $0.1 by its size, of which a tenth; and $0.01 for the output, of which a hundredth.
  assert.equal(book.gauges[0]?.reserved, USD / 100n + USD / 10_000n);
});

test("of a burst four requests at most are reserved for by what is usual, the others by their size", () => {
  const book = taught({ tokens: 10_000 }, { output: 1 });
  const running = admitSome(book, 100);
  // Four of 1 token, and as many of 1,100 as there is room for.
  assert.equal(running.length, 4 + 10);
  book.settle(running.pop() ?? null, null, NOW);
  book.settle(running.shift() ?? null, null, NOW);
  const reserved = book.gauges[0]?.reserved ?? 0n;
  admitted(book);
  assert.equal((book.gauges[0]?.reserved ?? 0n) - reserved, 1n, "one of the four has ended");
});

test("nine tiny requests, then a hundred at once: a limit is exceeded by less than five of them", () => {
  const book = taught({ usd: 0.07 }, { output: 0 });
  const large = budgetRequest({ input: 0, output: 1_000 });
  const running: Reservation[] = [];
  for (let count = 0; count < 100; count += 1)
    if (book.judge(large, NOW) === null) running.push(admitted(book, large));
  // Each costs $0.01, all that it allows.
  for (const one of running) book.settle(one, record(1_000), NOW);
  assert.ok((book.gauges[0]?.spent(NOW) ?? 0n) < (12n * USD) / 100n, String(running.length));
});

test("requests that were abandoned may have cost all: a tool that abandons some is reserved for by its size", () => {
  const book = taught({ tokens: 1e9 }, { output: 1 });
  const abandoned = record(0, { usage: "absent", outcome: "cut", spend: "never", tokens: null });
  book.settle(admitted(book), abandoned, NOW);
  const before = book.gauges[0]?.reserved ?? 0n;
  const one = admitted(book);
  assert.equal((book.gauges[0]?.reserved ?? 0n) - before, 1n, "one of ten");
  book.settle(one, abandoned, NOW);
  admitted(book);
  assert.equal((book.gauges[0]?.reserved ?? 0n) - before, 1_100n, "two of eleven");
});

test("a request that continues a response is reserved for with all that this had, or what is assumed", () => {
  const book = bookFor({ budgets: [{ tokens: 42_000, per: "day" }] }, NOW);
  const [gauge] = book.gauges;
  const had = tokens({ input_uncached: 20, cache_read: 5_000, output: 900 });
  book.settle(null, record(0, { response_id: "resp_9", tokens: had }), NOW);
  const next = budgetRequest({ input: 20, output: 100, previous: "resp_9" });
  admitted(book, next);
  assert.equal(gauge?.reserved, 5_920n + 120n);
  let count = 1;
  for (; book.judge(next, NOW) === null; count += 1) admitted(book, next);
  // 5,920 tokens are spent, 6 times 6,040 are reserved.
  assert.equal(count, 6);
  const other = bookFor({ budgets: [{ tokens: 42_000, per: "day" }] }, NOW);
  admitted(other, budgetRequest({ input: 20, output: 100, previous: "resp_8" }));
  assert.equal(other.gauges[0]?.reserved, 32_120n);
});

test("a reservation in dollars is at the prices of the model, or the dearest ones", () => {
  const book = bookFor({ budgets: [{ usd: 100, per: "day" }] }, NOW);
  const reservedFor = (model: string | null, upstream = "default", cachesLong = false) => {
    const reservation = admitted(book, budgetRequest({ model, upstream, cachesLong }));
    const reserved = standingIn(book, NOW).reserved;
    book.settle(reservation, null, NOW);
    return reserved;
  };
  // The input may be written to a cache.
  assert.equal(reservedFor("plain"), (3n * USD) / 1_000n);
  assert.equal(reservedFor("dear"), (15n * USD) / 1_000n);
  assert.equal(reservedFor("nobody"), (15n * USD) / 1_000n);
  assert.equal(reservedFor(null), (15n * USD) / 1_000n);
  assert.equal(reservedFor("lasting"), (225n * USD) / 100_000n);
  assert.equal(reservedFor("lasting", "default", true), (3n * USD) / 1_000n);
  assert.equal(reservedFor("nobody", "local", true), 0n);
  assert.equal(reservedFor("nobody", "local"), 0n);
});

const outputAtOwnPrices = (changes: Parameters<typeof budgetRequest>[0]) =>
  boundRequest(budgetRequest(changes), PRICES, NOW).output.usd;

test("a faster tier, speed or region is reserved at its price, one without a known price at the dearest", () => {
  const prices = priceBook({ default: { baseUrl: "https://api.anthropic.com/v1" } });
  const most = (changes: Parameters<typeof budgetRequest>[0]) => {
    const { input, output } = boundRequest(
      budgetRequest({ model: "claude-opus-5", ...changes }),
      prices,
      NOW,
    );
    return input.usd + output.usd;
  };
  const usual = most({});
  assert.equal(most({ speed: "fast" }), 2n * usual);
  assert.equal(10n * most({ geo: "us" }), 11n * usual);
  assert.ok(most({ tier: "priority" }) >= usual);
  assert.ok(most({ tier: "priority or scale" }) >= usual);
  assert.equal(outputAtOwnPrices({ model: "plain", tier: "priority" }), outputAtOwnPrices({ model: "dear" }));
  assert.equal(outputAtOwnPrices({ model: "anything", upstream: "local", tier: "priority" }), 0n);
});

test("four requests at once with a picture of 1.5 MB have room in $2 at $5 for a million tokens", () => {
  const body = new SizeReader();
  const data = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(1_500_000, 7)]).toString(
    "base64",
  );
  const source = { type: "base64", media_type: "image/png", data };
  const content = [
    { type: "image", source },
    { type: "text", text: "What is this?" },
  ];
  body.feed(
    Buffer.from(JSON.stringify({ model: "dear", max_tokens: 1_000, messages: [{ role: "user", content }] })),
  );
  const request = budgetRequest({ model: "dear", ...body.size });
  const book = bookFor({ budgets: [{ usd: 2, per: "day" }] }, NOW);
  for (let count = 0; count < 4; count += 1) admitted(book, request);
  assert.ok(Number(book.gauges[0]?.reserved) < 0.5e30, String(book.gauges[0]?.reserved));
});

test("the first budget that is spent refuses: of the tool, the project, the key, then of all", () => {
  const sections = {
    tools: {
      codex: {
        budgets: [
          { tokens: 50, per: "day" },
          { tokens: 10, per: "hour" },
        ],
      },
    },
    projects: { "/p": { budgets: [{ tokens: 30, per: "day" }] } },
    keys: { default: { budgets: [{ tokens: 20, per: "day" }] } },
    budgets: [{ tokens: 10, per: "day" }],
  };
  const book = bookFor(sections, NOW);
  const request = budgetRequest({ project: "/p" });
  const id = () => refusedBy(book, request)?.budget.id ?? null;
  const spend = (output: number, changes: Partial<UsageRecord>) =>
    book.settle(null, record(output, changes), NOW);
  assert.equal(id(), null);
  spend(10, { tool: "zed", key: "other" });
  assert.equal(id(), "all: tokens per day");
  spend(20, { tool: "zed" });
  assert.equal(id(), "key default: tokens per day");
  spend(30, { tool: "zed", project: "/p" });
  assert.equal(id(), "project /p: tokens per day");
  spend(49, { ts: "2026-11-21T10:59:00.000Z" });
  assert.equal(id(), "project /p: tokens per day");
  spend(10, {});
  assert.equal(id(), "tool codex: tokens per day");
  assert.equal(
    refusedBy(book, budgetRequest({ tool: "zed", key: "other" }))?.budget.id,
    "all: tokens per day",
  );
});

test("a refusal says what was spent, assumed and reserved, and when it opens", () => {
  const book = bookFor({ budgets: [{ tokens: 2_000, per: "day" }] }, NOW);
  admitted(book);
  book.settle(
    null,
    record(0, {
      usage: "absent",
      outcome: "cut",
      spend: "never",
      tokens: null,
      bytes_in: 3_000,
      bytes_out: 0,
    }),
    NOW,
  );
  const refused = refusedBy(book);
  assert.deepEqual(refused, {
    budget: standingIn(book, NOW).budget,
    tool: "codex",
    spent: 1_000n,
    assumed: 1_000n,
    reserved: 1_100n,
    running: 1,
    asked: null,
    opensAt: NOW,
  });
  book.settle(null, record(1_000), NOW);
  assert.equal(refusedBy(book)?.opensAt, MIDNIGHT);
});

test("a spent budget opens with its next window, not a moment earlier", () => {
  const book = bookFor({ budgets: [{ tokens: 10, per: "day" }] }, NOW);
  book.settle(null, record(10), NOW);
  assert.notEqual(refusedBy(book, budgetRequest(), MIDNIGHT - 1), null);
  assert.equal(refusedBy(book, budgetRequest(), MIDNIGHT), null);
});

test("a clock that is set back gives nothing back, and what was spent while it was ahead is not given twice", () => {
  const book = bookFor({ budgets: [{ tokens: 10, per: "day" }] }, NOW);
  book.settle(null, record(10), NOW);
  assert.notEqual(refusedBy(book, budgetRequest(), NOW - 3 * 24 * HOUR), null, "set back");
  const tomorrow = NOW + 24 * HOUR;
  assert.equal(refusedBy(book, budgetRequest(), tomorrow), null, "set ahead");
  book.settle(null, record(10, { ts: new Date(tomorrow).toISOString() }), tomorrow);
  assert.equal(standingIn(book, NOW).spent, 20n, "and back");
  assert.notEqual(refusedBy(book, budgetRequest(), tomorrow + 1), null, "when tomorrow comes");
  assert.equal(refusedBy(book, budgetRequest(), tomorrow + 24 * HOUR), null, "the day after");
});

test("a budget of nothing refuses everything and never opens; one that only warns refuses nothing", () => {
  const nothing = bookFor({ budgets: [{ usd: 0, per: "day" }] }, NOW);
  assert.equal(refusedBy(nothing)?.opensAt, null);
  const warning = bookFor({ budgets: [{ usd: 0, per: "day", action: "warn" }] }, NOW);
  assert.equal(refusedBy(warning), null);
});

test("a spent budget of dollars refuses nothing that costs nothing: at an upstream that takes no key (BerriAI/litellm#10973)", () => {
  const local = budgetRequest({ upstream: "local", model: "qwen" });
  for (const [budget, refuses] of [
    [{ usd: 0.01 }, false],
    [{ usd: 0 }, true],
    [{ tokens: 1_000 }, true],
  ] as const) {
    const book = bookFor({ budgets: [{ ...budget, per: "day" }] }, NOW);
    book.settle(null, record(0, { tokens: tokens({ input_uncached: 2_000, output: 1_000 }) }), NOW);
    assert.notEqual(refusedBy(book), null);
    assert.equal(refusedBy(book, local) !== null, refuses, JSON.stringify(budget));
    // The configuration has a price for it.
    assert.notEqual(refusedBy(book, { ...local, model: "plain" }), null);
  }
});

test("without a budget for it a request is admitted, and nothing is reserved", () => {
  const book = bookFor({ tools: { zed: { budgets: [{ usd: 0, per: "day" }] } } }, NOW);
  assert.equal(refusedBy(book), null);
  assert.deepEqual(book.reserve(budgetRequest(), NOW), { reservation: null, percent: null });
  assert.equal(book.runningCount, 0);
});

test("an admitted request is told the highest percentage of its budgets that is spent, rounded down", () => {
  const book = bookFor(
    {
      tools: { codex: { budgets: [{ tokens: 1_000, per: "day" }] } },
      budgets: [{ tokens: 10_000, per: "day" }],
    },
    NOW,
  );
  const percent = () => {
    if (refusedBy(book) !== null) return "refused";
    const { reservation, percent: shown } = book.reserve(budgetRequest(), NOW);
    book.settle(reservation, null, NOW);
    return shown;
  };
  assert.equal(percent(), 0);
  book.settle(null, record(829), NOW);
  assert.equal(percent(), 82);
  book.settle(null, record(170), NOW);
  assert.equal(percent(), 99);
  book.settle(null, record(8_701, { tool: "zed" }), NOW);
  assert.equal(percent(), 99);
  book.settle(null, record(1), NOW);
  assert.equal(percent(), "refused");
});

test("a reservation ends once: without a record, with one, and never a second time", () => {
  const book = bookFor({ budgets: [{ tokens: 10_000, per: "day" }] }, NOW);
  const [one, other] = [admitted(book), admitted(book)];
  book.settle(one, null, NOW);
  book.settle(one, null, NOW);
  assert.equal(standingIn(book, NOW).reserved, 1_100n);
  book.settle(other, record(5), NOW);
  assert.deepEqual([standingIn(book, NOW).reserved, standingIn(book, NOW).spent], [0n, 5n]);
});

test("a lift lets no budget refuse a tool until its end, and counts on; one for all lifts all", () => {
  const book = bookFor({ budgets: [{ tokens: 10, per: "day" }] }, NOW);
  book.settle(null, record(10), NOW);
  book.lift("codex", NOW, NOW + HOUR);
  assert.equal(refusedBy(book), null);
  assert.equal(refusedBy(book, budgetRequest(), NOW + HOUR - 1), null);
  assert.notEqual(refusedBy(book, budgetRequest(), NOW + HOUR), null);
  assert.notEqual(refusedBy(book, budgetRequest({ tool: "zed" })), null);
  // A clock that is set back does not prolong it.
  assert.equal(refusedBy(book, budgetRequest(), NOW - 60_000), null);
  assert.notEqual(refusedBy(book, budgetRequest(), NOW - HOUR), null);
  book.settle(null, record(5), NOW);
  assert.equal(standingIn(book, NOW).spent, 15n);
  book.lift(null, NOW, NOW + HOUR);
  assert.equal(refusedBy(book, budgetRequest({ tool: "zed" })), null);
  // A second one replaces the first.
  book.lift(null, NOW, NOW + 1);
  assert.notEqual(refusedBy(book, budgetRequest({ tool: "zed" }), NOW + 1), null);
});

test("a reset starts the window anew, also for a book that is made from the ledger again", () => {
  const sections = { budgets: [{ tokens: 10, per: "day" }] };
  const book = bookFor(sections, NOW);
  const [early, late] = [record(10), record(3, { ts: new Date(NOW).toISOString() })];
  book.settle(null, early, NOW);
  assert.equal(book.reset("all: tokens per week", NOW), false);
  assert.equal(book.reset("all: tokens per day", NOW), true);
  assert.equal(standingIn(book, NOW).spent, 0n);
  book.settle(null, late, NOW);
  assert.equal(standingIn(book, NOW).spent, 3n);
  const again = bookFor(sections, NOW, book.state);
  for (const one of [early, late]) again.add(one);
  assert.equal(standingIn(again, NOW).spent, 3n);
  // It gives nothing to the next window.
  again.settle(null, record(10, { ts: new Date(MIDNIGHT).toISOString() }), MIDNIGHT);
  assert.notEqual(refusedBy(again, budgetRequest(), MIDNIGHT), null);
});

test("a reset forgives what was spent while the clock was years ahead, until that time comes", () => {
  const book = bookFor({ budgets: [{ tokens: 10, per: "day" }] }, NOW);
  const ahead = Date.parse("2031-01-01T12:00:00Z");
  book.settle(null, record(10, { ts: new Date(ahead).toISOString() }), ahead);
  const tomorrow = NOW + 24 * HOUR;
  assert.notEqual(refusedBy(book), null);
  assert.equal(refusedBy(book)?.opensAt, Date.parse("2031-01-01T23:00:00Z"));
  assert.notEqual(refusedBy(book, budgetRequest(), tomorrow), null);
  book.reset("all: tokens per day", tomorrow);
  assert.equal(refusedBy(book, budgetRequest(), tomorrow), null);
  assert.equal(refusedBy(book, budgetRequest(), tomorrow + 5 * 24 * HOUR), null);
  assert.notEqual(refusedBy(book, budgetRequest(), ahead), null);
});

test("a reload changes limits and never the count; running requests are reserved for by the new budgets", () => {
  const book = new BudgetBook(settingsFor({ budgets: [{ tokens: 2_000, per: "day" }] }), NO_STATE, NOW);
  const running = admitted(book);
  book.settle(null, record(500), NOW);
  book.reload(
    settingsFor({
      budgets: [{ tokens: 1_500, per: "day" }],
      keys: { default: { budgets: [{ tokens: 5_000, per: "day" }] } },
    }),
    NOW,
  );
  const state = () =>
    standingsOf(book, NOW).map(({ budget, spent, reserved, isWhole }) => [
      budget.id,
      spent,
      reserved,
      isWhole,
    ]);
  assert.deepEqual(state(), [
    // A new one counts from now on, until the ledger has been read.
    ["key default: tokens per day", 0n, 1_100n, false],
    ["all: tokens per day", 500n, 1_100n, true],
  ]);
  assert.equal(refusedBy(book)?.budget.amount, 1_500n);
  book.settle(running, null, NOW);
  assert.deepEqual(
    state().map(([, , reserved]) => reserved),
    [0n, 0n],
  );
});

test("after the ledger was read again a new budget has its count, and what ended meanwhile counts once", () => {
  const sections = {
    budgets: [{ tokens: 9_999, per: "day" }],
    keys: { default: { budgets: [{ tokens: 5_000, per: "day" }] } },
  };
  const book = bookFor({ budgets: [{ tokens: 2_000, per: "day" }] }, NOW);
  const [before, read, missed] = [record(1), record(20), record(300)];
  const created = record(0, {
    usage: "pending",
    outcome: "queued",
    spend: "attach_by_response_id",
    tokens: null,
    bytes_in: 3,
    bytes_out: 0,
  });
  for (const one of [before, created]) book.settle(null, one, NOW);
  book.reload(settingsFor(sections), NOW);
  const reader = bookFor(sections, NOW);
  book.settle(null, read, NOW);
  for (const one of [before, created, read]) reader.add(one);
  book.settle(null, missed, NOW);
  book.recount(reader.encode(), [missed]);
  const spent = () => standingsOf(book, NOW).map((one) => [one.spent, one.isWhole]);
  assert.deepEqual(spent(), [
    [322n, true],
    [322n, true],
  ]);
  // The reader knew of the background response, and so does the book now.
  const empty = bookFor(sections, NOW);
  empty.recount(book.encode(), []);
  empty.settle(
    null,
    record(7, {
      ...created,
      id: "f",
      method: "GET",
      route: "/responses/{id}",
      usage: "final",
      tokens: tokens({ output: 7 }),
    }),
    NOW,
  );
  assert.equal(standingIn(empty, NOW).spent, 328n);
});

test("the ledger must be read once more when the configuration or a reset came between", () => {
  for (const [isOther, change] of [
    [true, (book: BudgetBook) => book.reload(settingsFor({ budgets: [{ tokens: 2, per: "day" }] }), NOW)],
    [true, (book: BudgetBook) => book.reset("all: tokens per day", NOW)],
    [false, (book: BudgetBook) => book.lift("codex", NOW, NOW + 1)],
    [false, (book: BudgetBook) => void book.settle(null, record(5), NOW)],
  ] as const) {
    const book = bookFor({ budgets: [{ tokens: 2_000, per: "day" }] }, NOW);
    const before = book.version;
    change(book);
    assert.equal(book.version !== before, isOther);
  }
});

test("where a budget stands: its window, its rate, and when it will be spent", () => {
  const book = bookFor(
    {
      budgets: [
        { tokens: 1_250, per: "day" },
        { tokens: 625, per: "week" },
        { tokens: 700, rolling: 5 },
        { tokens: 625, per: "month" },
      ],
    },
    NOW,
  );
  book.settle(null, record(625), NOW);
  const standings = standingsOf(book, NOW).map(({ budget: _budget, ...rest }) => rest);
  const dayStart = Date.parse("2026-11-20T23:00:00Z");
  const common = { spent: 625n, assumed: 0n, assumedFor: [], reserved: 0n, isWhole: true };
  assert.deepEqual(standings[0], {
    ...common,
    percent: 50,
    since: dayStart,
    until: MIDNIGHT,
    opensAt: null,
    perHour: 50n,
    // 12.5 hours for the first half; the second would end after midnight.
    spentAt: null,
  });
  assert.deepEqual(standings[1]?.opensAt, Date.parse("2026-11-22T23:00:00Z"));
  assert.equal(standings[1]?.percent, 100);
  assert.deepEqual(standings[2], {
    ...common,
    percent: 89,
    since: NOW - 5 * HOUR,
    until: NOW,
    opensAt: null,
    perHour: 125n,
    spentAt: null,
  });
  const soon = bookFor({ budgets: [{ tokens: 1_000, per: "day" }] }, NOW);
  soon.settle(null, record(625), NOW);
  assert.equal(standingsOf(soon, NOW)[0]?.spentAt, NOW + 7.5 * HOUR);
});

test("budgets have ids that say whom they are for and what they count, in the order in which they refuse", () => {
  const ids = budgetsFrom({
    budgets: [
      { usd: 1, per: "month" },
      { tokens: 1, class: "output", rolling: 1 },
    ],
    keys: { work: { budgets: [{ usd: 1, rolling: 5 }] } },
    tools: { codex: { budgets: [{ tokens: 1, per: "day" }] } },
  }).map(({ id, amount }) => [id, amount]);
  assert.deepEqual(ids, [
    ["tool codex: tokens per day", 1n],
    ["key work: usd in 5 hours", USD],
    ["all: usd per month", USD],
    ["all: output tokens in 1 hour", 1n],
  ]);
});

test("a rolling budget opens when enough has left the window; later when more is spent, earlier when the limit rises", () => {
  const book = bookFor({ budgets: [{ tokens: 10, rolling: 5 }] }, NOW);
  const at = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
  const opensAt = () => ((refusedBy(book)?.opensAt ?? 0) - NOW) / 60_000;
  book.settle(null, record(10, { ts: at(60) }), NOW);
  assert.equal(opensAt(), 5 * 60 - 60 + 5);
  book.settle(null, record(10, { ts: at(30) }), NOW);
  assert.equal(opensAt(), 5 * 60 - 30 + 5);
  book.reload(settingsFor({ budgets: [{ tokens: 15, rolling: 5 }] }), NOW);
  assert.equal(opensAt(), 5 * 60 - 60 + 5);
});

test("whatever requests cost and in whatever order they run, a limit is exceeded by no more than is promised", () => {
  const step = fc.oneof(
    fc.record({ input: fc.nat(3_000), output: fc.nat(9_000), cost: fc.nat(12_000) }),
    fc.nat(20),
  );
  fc.assert(
    fc.property(fc.nat(50_000), fc.array(step, { maxLength: 80 }), (limit, steps) => {
      const book = bookFor({ budgets: [{ tokens: limit, per: "day" }] }, NOW);
      const running: { reservation: Reservation; cost: number; more: number }[] = [];
      let most = 0;
      for (const one of steps) {
        if (typeof one === "number") {
          const [ended] = running.splice(one % Math.max(1, running.length), 1);
          if (ended !== undefined) book.settle(ended.reservation, record(ended.cost), NOW);
        } else {
          const before = standingIn(book, NOW).reserved;
          if (book.judge(budgetRequest(one), NOW) !== null) continue;
          const reservation = admitted(book, budgetRequest(one));
          const excess = running.reduce((sum, { more }) => sum + more, 0);
          most = Math.max(most, one.cost + excess);
          const more = Math.max(0, one.cost - Number(standingIn(book, NOW).reserved - before));
          running.push({ reservation, cost: one.cost, more });
        }
      }
      for (const { reservation, cost } of running) book.settle(reservation, record(cost), NOW);
      const { spent: sum, reserved } = standingIn(book, NOW);
      const spent = Number(sum);
      assert.ok(spent === 0 || spent < limit + Math.max(1, most), `${spent} of ${limit}, most ${most}`);
      assert.equal(reserved, 0n);
    }),
    { numRuns: 500 },
  );
});
