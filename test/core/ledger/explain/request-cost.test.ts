// What `explain` says that a request cost is what `usage` counts for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { UTC_CALENDAR } from "../../../../src/core/ledger/calendar.ts";
import { Neighbours } from "../../../../src/core/ledger/explain/neighbours.ts";
import { costInSums, type RequestCost } from "../../../../src/core/ledger/explain/request-cost.ts";
import { summarise } from "../../../../src/core/ledger/report.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import type { Cost } from "../../../../src/core/price/cost.ts";
import { anyRecord } from "../../../fuzz/records.ts";
import { priceBook } from "../../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const PRICES = priceBook(
  {
    anthropic: { baseUrl: "https://api.anthropic.com/v1", discount: 15 },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" },
  },
  { "house-*": { input: 1, output: 3 } },
);

const BACKGROUND = "resp_background";
const FETCH = { method: "GET", route: "/responses/{id}", spend: "attach_by_response_id" } as const;
const CREATION = { method: "POST", route: "/responses", spend: "attach_by_response_id" } as const;

/** Sums of larger counts are not exact. */
const MOST_TOKENS = 10_000_000;

function withinReason<T extends object>(counts: T): T {
  const entries = Object.entries(counts).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "number" ? value % MOST_TOKENS : value,
  ]);
  return Object.fromEntries(entries) as T;
}

const anyUpstream = fc.constantFrom(
  "anthropic",
  "anthropic",
  "local",
  "gone",
  "plan:claude",
  "extra:claude",
  "sandbox",
);

/** A record as it may be, of an upstream and a model that have prices. */
const ledgerRecord: fc.Arbitrary<UsageRecord> = fc
  .record({
    record: anyRecord,
    upstream: anyUpstream,
    model: fc.constantFrom(
      "claude-sonnet-5",
      "claude-sonnet-4-5",
      "gpt-5",
      "gemini-2.5-pro",
      "house-1",
      "nameless",
    ),
    tier: fc.constantFrom(null, "standard", "batch", "flex"),
    tools: fc.constantFrom({}, { web_search: 2 }),
    about: fc.constantFrom(null, null, FETCH, CREATION),
  })
  .map(({ record, upstream, model, tier, tools, about }) => ({
    ...record,
    ...about,
    tokens: record.tokens === null ? null : withinReason(record.tokens),
    extra: record.extra.map(withinReason),
    upstream,
    model,
    alias: null,
    inference_geo: null,
    speed: null,
    service_tier: tier,
    server_tools: tools,
    response_id: about === null ? null : BACKGROUND,
    ts: "2026-11-21T12:00:00.000Z",
  }));

/** Records with ids of their own. Some of them are about one background response, which is that of one upstream. */
const ledger = fc
  .record({ records: fc.array(ledgerRecord, { minLength: 1, maxLength: 5 }), upstream: anyUpstream })
  .map(({ records, upstream }) =>
    records.map((record, at) => ({
      ...record,
      id: `record-${at}`,
      ...(record.response_id === BACKGROUND && { upstream }),
    })),
  );

function costsOf(records: readonly UsageRecord[]): RequestCost[] {
  return records.map((record) => {
    const neighbours = new Neighbours(record);
    for (const other of records) neighbours.add(other);
    return costInSums(record, neighbours.background(), PRICES);
  });
}

/** Returns the sum of the lines, or the bill. */
function amountOf(cost: Cost | null): bigint {
  if (cost === null || cost.kind === "unknown") return 0n;
  const lines = cost.lines.reduce((sum, { amount }) => sum + amount, 0n);
  if (cost.kind === "unpriced") return lines;
  return cost.from === "billed" ? cost.amount : lines;
}

function isExact(cost: Cost | null): boolean {
  return cost === null || (cost.kind === "priced" && !cost.isLowerBound);
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n);

test("the lines of each record add up to the cost, the worth and the certainty that usage shows of the records", () => {
  let priced = 0;
  fc.assert(
    fc.property(ledger, (records) => {
      const question = { by: ["tool"] as const, calendar: UTC_CALENDAR, prices: PRICES, filter: {} };
      const { cost } = summarise(records, question).total;
      const costs = costsOf(records);
      assert.equal(sum(costs.map((one) => amountOf(one.cost))), cost.amount);
      assert.equal(sum(costs.map((one) => amountOf(one.worth))), cost.worth?.amount ?? 0n);
      assert.equal(
        costs.every((one) => isExact(one.cost)),
        cost.isExact,
      );
      assert.equal(
        costs.every((one) => isExact(one.worth)),
        cost.worth?.isExact ?? true,
      );
      if (cost.amount > 0n) priced += 1;
    }),
    { numRuns: 500 },
  );
  assert.ok(priced > 50, `${priced} of the ledgers had a cost`);
});

test("a background response counts for the request that created it, with the usage that a fetch brought", () => {
  const about = { upstream: "anthropic", model: "claude-sonnet-5", response_id: "resp_1" };
  const pending = { usage: "pending", outcome: "queued", tokens: null } as const;
  const created = usageRecord({ ...about, ...CREATION, ...pending, id: "created" });
  const set = tokens({ input_uncached: 1000, output: 10 });
  const fetched = usageRecord({ ...about, ...FETCH, id: "fetched", tokens: set });
  const again = usageRecord({ ...about, ...CREATION, ...pending, id: "again" });
  const costs = costsOf([created, fetched, again]);
  assert.deepEqual(
    costs.map(({ source, countedFor, cost }) => [source.id, countedFor?.id ?? null, amountOf(cost) > 0n]),
    [
      ["fetched", null, true],
      ["fetched", "created", false],
      ["again", "created", false],
    ],
  );
});
