import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import { RecentSpending, type SpendingSums } from "../../../src/core/ledger/recent-spending.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { summarise } from "../../../src/core/ledger/report.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { Spending } from "../../../src/core/price/spending.ts";
import { priceBook } from "../../helpers/ledger/prices.ts";
import { extraTokens, tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const PRICES = priceBook({ default: { baseUrl: "https://api.openai.com/v1" } });
const BERLIN = zonedCalendar("Europe/Berlin");
/** In Berlin, where it is an hour later. */
const NOON = Date.parse("2026-11-21T11:00:00Z");

const describe = ({ requests, sandbox, input, cacheRead, spending }: SpendingSums) => {
  const priced = new Spending(PRICES);
  priced.addEncoded(spending);
  const { amount, isExact } = priced.cost(PRICES);
  return { requests, sandbox, input, cacheRead, amount: formatMoney(amount), isExact };
};

function recentOf(records: readonly UsageRecord[], now = NOON): RecentSpending {
  const recent = new RecentSpending(BERLIN, now, PRICES.allLimits());
  for (const record of records) recent.add(record, now);
  return recent;
}

/** What a report says of these records. */
function reported(records: readonly UsageRecord[]) {
  const { total, sandbox } = summarise(records, {
    by: ["tool"],
    calendar: BERLIN,
    prices: PRICES,
    filter: {},
  });
  const { requests, input_uncached, cache_read, cache_write } = total.sums;
  return {
    requests,
    sandbox: sandbox.total.sums.requests,
    input: input_uncached + cache_read + cache_write,
    cacheRead: cache_read,
    amount: formatMoney(total.cost.amount),
    isExact: total.cost.isExact,
  };
}

const some: fc.Arbitrary<UsageRecord> = fc
  .record({
    ts: fc.constantFrom("2026-11-20T22:59:59.999Z", "2026-11-20T23:00:00.000Z", "2026-11-21T10:00:00.000Z"),
    upstream: fc.constantFrom("default", "default", "sandbox"),
    session: fc.constantFrom("one", "two", null),
    model: fc.constantFrom("gpt-5.4", "nobody-knows"),
    tokens: fc.option(
      fc.record({ input_uncached: fc.nat(300_000), cache_read: fc.nat(9), output: fc.nat(9) }).map(tokens),
    ),
    usage: fc.constantFrom("final", "partial", "pending"),
    outcome: fc.constantFrom("completed", "error", "rejected"),
    status: fc.constantFrom(200, 529),
    spend: fc.constantFrom("count", "attach_by_response_id", "never"),
    method: fc.constantFrom("POST", "GET"),
    response_id: fc.constantFrom("resp-a", "resp-b", null),
    billed_usd: fc.constantFrom(null, "0.01"),
    extra: fc.constantFrom(
      [],
      [extraTokens({ type: "advisor_message", model: "gpt-5.4", billable: true, input_uncached: 7 })],
      [extraTokens({ type: "message", model: "gpt-5.4", billable: null, input_uncached: 7 })],
    ),
  })
  .map((changes) => usageRecord(changes as unknown as Partial<UsageRecord>));

const isToday = ({ ts }: UsageRecord) => ts >= "2026-11-20T23";

test("today is what a report says of today, and a session what it says of the session", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(some, { maxLength: 12 }), async (records) => {
      // A report does not see creations and fetches from before it begins.
      fc.pre(records.every((one) => isToday(one) || one.spend === "count"));
      const recent = recentOf(records);
      assert.deepEqual(describe(recent.today(NOON)), reported(records.filter(isToday)));
      const own = records.filter(({ session }) => session === "one");
      // The fetches of another session would complete a request of this one.
      fc.pre(records.every(({ spend }) => spend === "count"));
      const session = recent.session("one");
      if (session !== null) assert.deepEqual(describe(session), reported(own));
    }),
    { numRuns: 400 },
  );
});

test("a background response counts once, with the usage that a fetch brought", () => {
  const plain = usageRecord({ tokens: tokens({ input_uncached: 100 }) });
  const created = usageRecord({
    spend: "attach_by_response_id",
    usage: "pending",
    tokens: null,
    response_id: "bg",
    session: "s",
  });
  const fetch = usageRecord({
    spend: "attach_by_response_id",
    method: "GET",
    route: "/responses/{id}",
    response_id: "bg",
    tokens: tokens({ input_uncached: 1000 }),
  });
  const recent = recentOf([plain, created]);
  assert.equal(describe(recent.today(NOON)).isExact, false);
  assert.equal(recent.session("s")?.requests, 1);
  recent.add(fetch, NOON);
  recent.add(fetch, NOON);
  const { requests, input, isExact } = describe(recent.today(NOON));
  assert.deepEqual({ requests, input, isExact }, { requests: 2, input: 1100, isExact: true });
  assert.equal(recent.session("s")?.input, 1000);
});

test("at local midnight today begins again, and sessions go on", () => {
  const recent = recentOf([usageRecord({ ts: "2026-11-21T10:00:00.000Z" })]);
  const night = Date.parse("2026-11-21T23:00:00Z");
  assert.equal(recent.today(night - 1).requests, 1);
  assert.deepEqual([recent.today(night).requests, recent.today(night).isWhole], [0, true]);
  assert.equal(recent.session("session-1")?.requests, 1);
  // It arrived before midnight.
  recent.add(usageRecord({ ts: "2026-11-21T22:59:00.000Z" }), night + 1);
  recent.add(usageRecord({ ts: "2026-11-21T23:00:00.000Z" }), night + 1);
  assert.equal(recent.today(night + 1).requests, 1);
  assert.equal(recent.session("session-1")?.requests, 3);
});

test("a clock that is set back a day makes today's sums incomplete, and says so", () => {
  const recent = recentOf([usageRecord({ ts: "2026-11-21T10:00:00.000Z" })]);
  const day = 86_400_000;
  const isWhole = [NOON, NOON - day, NOON, NOON + day].map((now) => recent.today(now).isWhole);
  assert.deepEqual(isWhole, [true, false, false, true]);
});

test("a hundred sessions are remembered, and one that was forgotten is not whole when it comes back", () => {
  const names = Array.from({ length: 101 }, (_, index) => `session-${index}`);
  const recent = recentOf(names.slice(0, 100).map((session) => usageRecord({ session })));
  // Asking uses it.
  assert.ok(recent.session("session-0"));
  recent.add(usageRecord({ session: "session-100" }), NOON);
  // The one that was used the longest ago.
  assert.deepEqual(
    names.filter((name) => recent.session(name) === null),
    ["session-1"],
  );
  recent.add(usageRecord({ session: "session-1" }), NOON);
  const described = ["session-1", "session-100", "never-seen"].map((id) => {
    const sums = recent.session(id);
    return sums === null ? null : [sums.requests, sums.isWhole];
  });
  assert.deepEqual(described, [[1, false], [1, true], null]);
});

test("what is sent from one thread to another goes on as if nothing had happened", () => {
  fc.assert(
    fc.property(fc.array(some, { maxLength: 12 }), fc.array(some, { maxLength: 12 }), (before, after) => {
      const recent = recentOf(before);
      const other = RecentSpending.of(structuredClone(recent.toDocument()), BERLIN, NOON, PRICES.allLimits());
      for (const record of after) {
        // A response is created once.
        const isCreation = record.method === "POST" && record.response_id !== null;
        const next = isCreation ? { ...record, response_id: `${record.response_id}-later` } : record;
        for (const one of [recent, other]) one.add(next, NOON);
      }
      const all = [recent, other].map((one) => {
        const sessions = ["one", "two"].map((id) => one.session(id));
        return [one.today(NOON), ...sessions].map((sums) => (sums === null ? null : describe(sums)));
      });
      assert.deepEqual(all[1], all[0]);
    }),
    { numRuns: 300 },
  );
});

test("of many background responses the older ones count with the usage that they had, and memory stays small", () => {
  const recent = recentOf([]);
  for (let count = 0; count < 1_000; count += 1)
    recent.add(usageRecord({ spend: "attach_by_response_id", response_id: `bg-${count}` }), NOON);
  assert.equal(recent.today(NOON).requests, 1_000);
  assert.equal(recent.session("session-1")?.requests, 1_000);
  assert.ok(recent.toDocument().background.length <= 200);
});

test("a client that names ever new models and sessions does not make it grow without end", () => {
  const recent = recentOf([]);
  for (let count = 0; count < 2_000; count += 1)
    recent.add(usageRecord({ model: `model-${count}`, session: `s${count % 60}${"x".repeat(300)}` }), NOON);
  const { spending } = recent.today(NOON);
  assert.deepEqual([spending.charges.length, spending.leftOut], [512, 1488]);
});
