import { SANDBOX_UPSTREAM } from "../../../../core/config/names.ts";
import { COST_LINES } from "../../../../core/ledger/explain/record-words.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import type { CostLine } from "../../../../core/price/charge-cost.ts";
import type { Cost } from "../../../../core/price/cost.ts";
import { formatDecimal, formatDollars, formatMoney } from "../../../../core/price/money.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { formatCommand } from "../../../../core/text/shell-words.ts";
import type { Fact } from "../../../terminal/facts.ts";
import { formatNumber } from "../../../terminal/format.ts";
import type { Column } from "../../../terminal/table.ts";
import type { ExaminedRequest } from "./examine.ts";
import { findPriceOrigins, type PriceOrigin } from "./price-origins.ts";
import { isOwnUpstream } from "../../../../core/plans/names.ts";

/** What a request cost: sentences, and its lines where there are any. */
interface CostSection {
  facts: Fact[];
  /** Rows of {@link LINE_COLUMNS}. */
  rows: string[][];
  /** What belongs under the rows. */
  notes: Fact[];
}

/** Of a cost, line by line. */
export const LINE_COLUMNS: readonly Column[] = [
  { head: "", align: "left" },
  { head: "count", align: "right" },
  { head: "price", align: "right" },
  { head: "times", align: "left" },
  { head: "amount", align: "right" },
];

/** Stands for an amount that is the total of the rows. */
export const SAID_BELOW = "";

/** Describes what a request cost; for one that the tool itself paid, what it was worth. */
export function describeCosts(request: ExaminedRequest): CostSection {
  const { kind, cost, worth, record } = request;
  if (cost === null || kind === "failed") return { facts: [], rows: [], notes: [] };
  const shown = worth ?? cost;
  const rows = shown.kind === "unknown" || shown.lines.length === 0 ? [] : rowsOf(shown);
  const summary = summarise(request);
  return {
    facts: [["cost", rows.length > 0 && summary === describeAmount(cost) ? SAID_BELOW : summary]],
    rows,
    notes: [
      ...findPriceOrigins(request).map((origin, at): Fact => [
        at === 0 ? "prices" : "",
        describeOrigin(origin),
      ]),
      ...missingFacts(shown, record),
    ],
  };
}

function summarise({ record, kind, cost, worth }: ExaminedRequest): string {
  const { upstream } = record;
  if (upstream === SANDBOX_UPSTREAM) return "free: the sandbox made up its tokens";
  if (kind === "free") return "nothing: this route is free";
  if (worth !== null && isOwnUpstream(upstream))
    return `nothing here: the tool's own key paid ${describeAmount(worth)} at list prices`;
  if (worth !== null)
    return `nothing more than the plan. With a key it would have cost ${describeAmount(worth)}`;
  if (cost?.kind === "priced" && cost.from === "billed")
    return `${formatDollars(cost.amount)}, which the service says that it charged`;
  if (cost?.kind === "priced" && cost.from === "free") return `free: ${upstream} takes no key`;
  return cost === null ? "" : describeAmount(cost);
}

/** Returns an amount in words, such as `at least $0.42`. */
export function describeAmount(cost: Cost): string {
  switch (cost.kind) {
    case "unknown":
      return "an unknown amount: the service reported no usage";
    case "unpriced":
      return cost.atLeast === 0n ? "an unknown amount" : `at least ${formatDollars(cost.atLeast)}`;
    case "priced":
      return `${cost.isLowerBound ? "at least " : ""}${formatDollars(cost.amount)}`;
  }
}

const PER: Readonly<Record<CostLine["per"], string>> = {
  1_000_000: "per million",
  1000: "per thousand",
  1: "each",
};

/** Prices without factors have no column for them. */
function rowsOf(cost: Exclude<Cost, { kind: "unknown" }>): string[][] {
  const rows = cost.lines.map((line) => [
    COST_LINES[line.class],
    formatNumber(line.count),
    `$${formatDecimal(line.rate)} ${PER[line.per]}${line.isLong ? " (long context)" : ""}`,
    line.factors.map(({ what, value }) => `${formatDecimal(value)} (${toPrintable(what)})`).join(", "),
    `$${formatMoney(line.amount)}`,
  ]);
  const [word, amount] =
    cost.kind === "unpriced"
      ? (["at least", cost.atLeast] as const)
      : ([cost.isLowerBound ? "at least" : "total", cost.amount] as const);
  return [...rows, [word, "", "", "", `$${formatMoney(amount)}`]];
}

function describeOrigin({ model, provider, source, asOf }: PriceOrigin): string {
  if (source === null) return `your own price of ${model}, in the configuration`;
  return `list price of ${provider ?? "the maker"} for ${model}, as of ${asOf} (${source})`;
}

function missingFacts(cost: Cost, { model_requested: requested }: UsageRecord): Fact[] {
  if (cost.kind !== "unpriced") return [];
  const what = cost.missing
    .map((one) =>
      one.what === "model" ? (one.model ?? "a model that is not named") : `${one.what} of ${one.model}`,
    )
    .join(", ");
  const model = cost.missing.find((one) => one.model !== null)?.model ?? requested;
  const facts: Fact[] = [["unpriced", what, "warning"]];
  const words = model === null ? ["config", "edit"] : ["prices", toPrintable(model)];
  return [...facts, ["", `to set a price, type: ${formatCommand(["tollkeeper", ...words])}`]];
}
