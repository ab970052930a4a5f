import { SANDBOX_UPSTREAM } from "../config/names.ts";
import type { SummableRecord } from "../ledger/record.ts";
import { hasSpentNothing } from "../ledger/spend.ts";
import { isPaidByTool } from "../plans/names.ts";
import type { MeterReading } from "../usage/reading.ts";
import { priceCharge, priceWorth, type CostLine, type Missing } from "./charge-cost.ts";
import { ChargeSums } from "./charge-sums.ts";
import { billOf, chargesOf } from "./charge.ts";
import type { Money } from "./money.ts";
import type { PriceBook } from "./price-book.ts";

/** What of a record decides what it cost. */
export type PricedRecord = Omit<MeterReading, "stop" | "error_type" | "tokens" | "output_file"> &
  Pick<
    SummableRecord,
    "tokens" | "ts" | "upstream" | "route" | "method" | "status" | "model_requested" | "alias"
  >;

/**
 * What a request cost.
 * - `priced`: `amount` is the sum of the lines, or what the service says that it charged (`billed`, no lines). `isLowerBound`: the
 *   usage is partial or too large for a record, cache writes of unknown lifetime count as the cheapest ones, or no usage came and only
 *   the calls of the service's tools are known.
 * - `unpriced`: something has no price. `atLeast` is the sum of the rest. Never treat it as the cost.
 * - `unknown`: the service reported no usage, or has not yet, and no call of its tools is known. What is free anyway is `priced`.
 */
export type Cost =
  | { kind: "priced"; from: CostOrigin; amount: Money; lines: readonly CostLine[]; isLowerBound: boolean }
  | { kind: "unpriced"; missing: readonly Missing[]; atLeast: Money; lines: readonly CostLine[] }
  | { kind: "unknown" };

/**
 * Where an amount comes from. `free`: the sandbox, an upstream that takes no key, or a request that cannot have spent anything.
 * Of a request with several models, that of its own one.
 */
type CostOrigin = "billed" | "configuration" | "table" | "free";

const FREE: Cost = { kind: "priced", from: "free", amount: 0n, lines: [], isLowerBound: false };

/**
 * Returns what a request cost, by its record. Every record can be asked: that a response which was fetched twice counts once is
 * left to the caller (ledger/spend.ts), who asks with the record that has the usage. Sums of many are faster with `Spending`.
 *
 * A long-context price applies to a whole prompt, by its own size, cached input included. What has no price, or is modified by
 * something whose factor is not known for certain, is unpriced: nothing is guessed (docs/prices.md).
 */
export function costOf(record: PricedRecord, prices: PriceBook): Cost {
  if (record.upstream === SANDBOX_UPSTREAM || hasSpentNothing(record)) return FREE;
  const billed = billOf(record);
  if (billed !== null)
    return { kind: "priced", from: "billed", amount: billed, lines: [], isLowerBound: false };
  return isPaidByTool(record.upstream) ? FREE : reckon(record, prices, priceCharge);
}

/**
 * Returns what a request that the tool itself paid, with its plan or its own key, would have cost with a key of ours. It is in no sum of
 * money: reports add it up as the worth of plans, and as that of own keys.
 */
export function worthOf(record: PricedRecord, prices: PriceBook): Cost {
  return hasSpentNothing(record) ? FREE : reckon(record, prices, priceWorth);
}

/** Prices what a request is charged for. */
function reckon(record: PricedRecord, prices: PriceBook, price: typeof priceCharge): Cost {
  const { own, extra } = chargesOf(record);
  const sums = new ChargeSums(prices);
  for (const charge of [...own, ...extra]) sums.add(charge);
  const charges = sums.all();
  const costs = charges.map((charge) => price(charge, prices));
  const isUnknown = costs.some(({ certainty }, i) => certainty === "unknown" && charges[i]?.requests !== 0);
  const lines = costs.flatMap((cost) => cost.lines);
  const missing = distinct(costs.flatMap((cost) => cost.missing));
  const amount = lines.reduce((sum, line) => sum + line.amount, 0n);
  if (isUnknown && amount === 0n && missing.length === 0) return { kind: "unknown" };
  if (missing.length > 0) return { kind: "unpriced", missing, atLeast: amount, lines };
  const isLowerBound = isUnknown || costs.some(({ certainty }) => certainty === "lower_bound");
  return { kind: "priced", from: costs[0]?.from ?? "free", amount, lines, isLowerBound };
}

function distinct(missing: readonly Missing[]): Missing[] {
  return missing.filter(
    (one, at) => missing.findIndex(({ model, what }) => model === one.model && what === one.what) === at,
  );
}
