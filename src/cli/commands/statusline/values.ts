import { readBuiltTable } from "../../../adapters/price-table/built-table.ts";
import type { SpendingSums } from "../../../core/ledger/recent-spending.ts";
import type { PriceSettings } from "../../../core/config/config.ts";
import { formatDollars } from "../../../core/price/money.ts";
import { PriceBook } from "../../../core/price/price-book.ts";
import type { PriceTable } from "../../../core/price/price-table.ts";
import { Spending, type SpendingCost } from "../../../core/price/spending.ts";
import type { StatuslineFacts } from "../../../daemon/statusline.ts";
import { formatCost, formatShare } from "../../prices/format-cost.ts";
import type { StatuslineInput } from "./input.ts";
import type { Values } from "./render.ts";

const NO_TABLE: PriceTable = { source: "", asOf: "", sources: [], providers: [] };

/** A name of a model that is longer would hide everything else. */
const NAME_CHARACTERS = 30;

/** As it was built, outside of the bundle that draws the line: most have no imported table, and the line is to be there in 60 ms. */
const READER = import.meta.resolve("#package/dist/adapters/price-table/imported-table.js");

async function loadImported(prices: PriceSettings): Promise<PriceTable | null> {
  const reader = (await import(READER)) as typeof import("../../../adapters/price-table/imported-table.ts");
  return reader.readImported(prices);
}

/** Returns what the line shows. Loads the price table only if something was spent. Without one, all is unpriced. */
export async function findValues(
  {
    today,
    session,
    isWhole,
    isReading,
    budgetPercent,
    limit,
    limits,
    failing,
    paused,
    prices,
  }: StatuslineFacts,
  { session: id, model, directory }: StatuslineInput,
): Promise<Values> {
  const sums = [today, ...(session === null ? [] : [session])];
  const isPriced = sums.some(({ spending }) => spending.charges.length > 0);
  const table = isPriced ? readBuiltTable() : null;
  const imported = isPriced && prices.priceTable !== null ? await loadImported(prices) : null;
  const book = new PriceBook(prices, table ?? NO_TABLE, imported);
  const costs = sums.map(({ spending: encoded }) => {
    const spending = new Spending(book);
    spending.addEncoded(encoded);
    return spending.cost(book);
  });
  const shown = id === null ? today : session;
  const nothing = isReading ? "counting…" : "unknown";
  return {
    today: describeCost(costs[0], isWhole && today.isWhole, nothing),
    session: id === null ? "" : describeSession(session, costs[1], isWhole, nothing),
    cache: shown === null ? "" : formatShare(shown.cacheRead, shown.input),
    budget: budgetPercent === null ? "" : `${budgetPercent}%`,
    limit,
    limits,
    failing,
    paused,
    unpriced: nameUnpriced(costs),
    model: model ?? "",
    directory: directory ?? "",
  };
}

/** `sandbox` where all requests went there: its tokens are made up. */
function describeSession(
  sums: SpendingSums | null,
  cost: SpendingCost | undefined,
  isWhole: boolean,
  nothing: string,
): string {
  const isMadeUp = sums !== null && sums.requests === 0 && sums.sandbox > 0;
  return isMadeUp ? "sandbox" : describeCost(cost, isWhole && sums?.isWhole !== false, nothing);
}

/**
 * A session without requests, which has no cost, has spent nothing.
 * @param nothing stands where nothing is known, but there may be more
 */
function describeCost(cost: SpendingCost | undefined, isWhole: boolean, nothing: string): string {
  const amount = cost?.amount ?? 0n;
  if (!isWhole && amount === 0n) return nothing;
  if (cost === undefined) return formatDollars(amount);
  return formatCost({ ...cost, isExact: cost.isExact && isWhole }, formatDollars(amount));
}

/** Returns e.g. `house-model and 2 more`; empty if everything has a price. */
function nameUnpriced(costs: readonly SpendingCost[]): string {
  const models = costs.flatMap(({ unpriced }) => unpriced.map(({ model }) => model ?? "a nameless model"));
  const [first, ...others] = new Set(models);
  if (first === undefined) return "";
  const name = first.length > NAME_CHARACTERS ? `${first.slice(0, NAME_CHARACTERS - 1)}…` : first;
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}
