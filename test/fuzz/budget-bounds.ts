import assert from "node:assert/strict";
import * as fc from "fast-check";
import { BudgetBook } from "../../src/core/budget/book.ts";
import { boundRequest } from "../../src/core/budget/estimate.ts";
import { keepReservation } from "../../src/core/budget/kept-reservation.ts";
import type { Gauge } from "../../src/core/budget/gauge.ts";
import type { Reservation } from "../../src/core/budget/running.ts";
import { amountOf } from "../../src/core/budget/spent.ts";
import { NO_STATE } from "../../src/core/budget/state.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { spentBy } from "../../src/core/budget/spent.ts";
import { budgetRequest, PRICES, settingsFor } from "../helpers/budget/budget-book.ts";
import { tokens, usageRecord } from "../helpers/ledger/usage-record.ts";
import type { Tokens } from "../../src/core/usage/reading.ts";
import { property, type Property } from "./property.ts";

const NOW = Date.parse("2026-11-21T11:30:00Z");

/** What a tool sends, and what of it is used: shares of the input and the output that its size allows, in percent. */
const kind = fc.record({
  tool: fc.constantFrom("codex", "zed", "pi"),
  model: fc.constantFrom("plain", "dear", "lasting", "nobody"),
  input: fc.constantFrom(0, 30, 3_000, 100_000),
  output: fc.constantFrom(1, 100, 4_096, 32_000),
  usedInput: fc.constantFrom(0, 1, 30, 100, 100, 100),
  usedOutput: fc.constantFrom(0, 1, 30, 100, 100, 100),
  /** What the input is billed as. Only a request that asks for it, or is not read, writes to a cache for long. */
  inputClass: fc.constantFrom(
    "input_uncached",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "cache_write_12h",
  ),
  /** What it asks for, and what the service then says that it gave. */
  tier: fc.constantFrom(null, null, "priority", "scale"),
});
type Kind = typeof kind extends fc.Arbitrary<infer Value> ? Value : never;

type Step =
  | { do: "burst"; kind: Kind; count: number }
  | { do: "end" | "abandon"; count: number }
  | { do: "kill" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ kind, count: fc.constantFrom(1, 9, 40, 100) })
      .map((burst): Step => ({ do: "burst", ...burst })),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(1, 9, 200).map((count): Step => ({ do: "end", count })),
  },
  { weight: 1, arbitrary: fc.constantFrom(1, 9).map((count): Step => ({ do: "abandon", count })) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "kill" }) },
);

interface Running {
  reservation: Reservation;
  record: UsageRecord;
  /** What it costs, and what was reserved for it. */
  cost: bigint;
  reserved: bigint;
}

/** Tokens whose input is all of one class. */
function tokensOf(inputClass: Kind["inputClass"], input: number, output: number): Tokens {
  const counts = tokens({ output });
  const isWritten = inputClass.startsWith("cache_write");
  const cache_write = isWritten ? input : 0;
  return { ...counts, cache_write, [inputClass]: input, input_total: input, total: input + output };
}

/** A book, and an upstream that keeps books of its own. */
class Spending {
  readonly #settings;
  readonly #records: UsageRecord[] = [];
  #book: BudgetBook;
  #running: Running[] = [];
  #billed = 0n;
  /** What requests cost beyond their reservations, and of those that were abandoned. */
  #beyond = 0n;
  #beyondAbandoned = 0n;
  #dearest = 0n;
  #largest = 0n;

  constructor(limit: object) {
    this.#settings = settingsFor({ budgets: [{ ...limit, per: "day" }] });
    this.#book = new BudgetBook(this.#settings, NO_STATE, NOW);
  }

  get #gauge(): Gauge {
    const [gauge] = this.#book.gauges;
    assert.ok(gauge !== undefined);
    return gauge;
  }

  do(one: Step): void {
    if (one.do === "burst") for (let count = 0; count < one.count; count += 1) this.#begin(one.kind);
    else if (one.do === "end") for (const ended of this.#running.splice(0, one.count)) this.#end(ended);
    else if (one.do === "abandon")
      for (const ended of this.#running.splice(0, one.count)) this.#abandon(ended);
    else {
      // Each left a note before it was sent. What was usual is forgotten.
      for (const ended of this.#running.splice(0)) this.#abandon(ended);
      this.#book = new BudgetBook(this.#settings, NO_STATE, NOW);
      for (const record of this.#records) this.#book.add(record);
    }
    this.check();
  }

  check(): void {
    const limit = this.#gauge.budget.amount;
    assert.ok(this.#gauge.usual <= 4);
    if (this.#billed === 0n) return;
    const running = this.#running.reduce((sum, { cost }) => sum + cost, 0n);
    const excess = this.#billed + running - limit;
    // The sentence of docs/budgets.md.
    assert.ok(excess < this.#dearest + this.#beyond + 1n, `excess ${excess}, beyond ${this.#beyond}`);
    // And what it can be, as nothing costs more than its size allows.
    assert.ok(excess < 5n * this.#largest + this.#beyondAbandoned + 1n, `excess ${excess}`);
  }

  #begin(one: Kind): void {
    const { tool, model, input, output, usedInput, usedOutput, inputClass, tier } = one;
    const cachesLong = inputClass === "cache_write_1h" || inputClass === "cache_write_12h";
    const request = budgetRequest({ tool, model, input, output, cachesLong, tier });
    if (this.#book.judge(request, NOW) !== null) return;
    const before = this.#gauge.reserved;
    const { reservation } = this.#book.reserve(request, NOW);
    assert.ok(reservation !== null);
    const used = Math.floor((input * usedInput) / 100);
    const record = usageRecord({
      ts: new Date(NOW).toISOString(),
      tool,
      model,
      service_tier: tier,
      tokens: tokensOf(inputClass, used, Math.floor((output * usedOutput) / 100)),
    });
    const { budget } = this.#gauge;
    const { known, assumed } = spentBy({ record, source: record }, PRICES);
    const cost = amountOf(budget, known) + amountOf(budget, assumed);
    const bound = boundRequest(request, PRICES, NOW);
    const most = amountOf(budget, bound.input) + amountOf(budget, bound.output);
    assert.ok(cost <= most, "its size bounds it");
    if (most > this.#largest) this.#largest = most;
    if (cost > this.#dearest) this.#dearest = cost;
    const reserved = this.#gauge.reserved - before;
    if (cost > reserved) this.#beyond += cost - reserved;
    this.#running.push({ reservation, record, cost, reserved });
  }

  #end({ reservation, record, cost }: Running): void {
    this.#billed += cost;
    this.#records.push(record);
    this.#book.settle(reservation, record, NOW);
  }

  #abandon({ reservation, record, cost, reserved }: Running): void {
    const cut = { ...record, outcome: "cut", usage: "absent", spend: "never", tokens: null } as const;
    const unsaid = { ...cut, service_tier: null };
    const abandoned = {
      ...unsaid,
      ...keepReservation(unsaid, reservation.reserved, reservation.request, record.model),
    };
    const before = this.#gauge.spent(NOW);
    this.#book.settle(reservation, abandoned, NOW);
    assert.ok(this.#gauge.spent(NOW) - before >= reserved, "it keeps its reservation");
    this.#billed += cost;
    if (cost > reserved) this.#beyondAbandoned += cost - reserved;
    this.#records.push(abandoned);
  }
}

const limit = fc.oneof(
  fc.constantFrom(0.001, 0.07, 2, 20).map((usd) => ({ usd })),
  fc.constantFrom(500, 42_000, 1e6).map((count) => ({ tokens: count })),
  fc.constantFrom(500, 42_000).map((count) => ({ tokens: count, class: "output" })),
);

export const BUDGET_BOUNDS: readonly Property[] = [
  property(
    "budgets: whatever tools, bursts, kills and prices there are, the excess is what docs/budgets.md says",
    { batch: 40 },
    fc.property(limit, fc.array(step, { minLength: 3, maxLength: 25 }), (one, steps) => {
      const spending = new Spending(one);
      for (const each of steps) spending.do(each);
    }),
  ),
];
