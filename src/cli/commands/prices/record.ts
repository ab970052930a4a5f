import type { UsageRecord } from "../../../core/ledger/record.ts";
import type { Cost } from "../../../core/price/cost.ts";
import type { MissedCost } from "../../../core/price/missed.ts";
import { documentCost } from "../../prices/cost-document.ts";
import { documentMiss } from "../../prices/miss-document.ts";
import { formatCostLines } from "../../prices/cost-rows.ts";
import { print } from "../../terminal/console.ts";
import { printFacts } from "../../terminal/facts.ts";
import { formatNumber, labelledLine } from "../../terminal/format.ts";
import { localTime } from "../../terminal/short-time.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { isOwnUpstream } from "../../../core/plans/names.ts";

/** Where an amount without lines comes from. */
const ORIGINS: Readonly<Record<string, string>> = {
  billed: "what the service says that it charged",
  free: "free: the sandbox, an upstream that takes no key, or nothing that is paid for",
};

/** Prints what a recorded request cost, line by line; for one that the tool itself paid, what it was worth. */
export function printRecordCost(record: UsageRecord, cost: Cost, worth: Cost | null): void {
  print(labelledLine("request", `${localTime(record.ts)}, ${record.tool}`));
  print(labelledLine("model", record.model ?? record.model_requested ?? "unknown"));
  print(labelledLine("upstream", record.upstream));
  // What spent nothing is worth nothing, and was paid by none.
  const isPaidByTool = worth !== null && !(worth.kind === "priced" && worth.from === "free");
  if (isPaidByTool) print(labelledLine("cost", paidOtherwise(record)));
  const shown = isPaidByTool ? worth : cost;
  if (shown.kind === "unknown") {
    print(labelledLine(isPaidByTool ? "worth" : "cost", "unknown: the service has reported no usage"));
    return;
  }
  if (shown.kind === "unpriced" && shown.lines.length === 0) {
    printFacts([[isPaidByTool ? "worth" : "cost", describeUnpriced(record, shown), "warning"]]);
    return;
  }
  const origin = shown.kind === "priced" ? ORIGINS[shown.from] : undefined;
  if (origin !== undefined) print(labelledLine("cost", origin));
  print("");
  print(formatCostLines(shown));
}

/** Says what has no price, how much was used of it, and what to type. */
function describeUnpriced({ tokens }: UsageRecord, { missing }: Extract<Cost, { kind: "unpriced" }>): string {
  const models = [...new Set(missing.map(({ model }) => model ?? "a model without a name"))].join(", ");
  const used =
    tokens === null
      ? ""
      : ` Used: ${formatNumber(tokens.input_uncached)} uncached input, ${formatNumber(tokens.cache_read)} cache read, ${formatNumber(tokens.cache_write)} cache write, ${formatNumber(tokens.output)} output.`;
  const command = formatCommand(["tollkeeper", "prices", missing[0]?.model ?? "MODEL"]);
  return `unpriced: ${models} has no price.${used} To set one, type: ${command}`;
}

function paidOtherwise({ upstream }: UsageRecord): string {
  return isOwnUpstream(upstream)
    ? "own: the tool's own key paid. What that is, at list prices:"
    : "plan: nothing is charged for it. Its worth, at the prices of a key:";
}

/** Returns the same as a document for programs, with what a miss of the cache cost. The worth is null where a key of ours paid. */
export function documentRecordCost(
  record: UsageRecord,
  cost: Cost,
  worth: Cost | null,
  missed: MissedCost | null,
): object {
  const { id, ts, tool, upstream, model, model_requested: requested } = record;
  return {
    record: { id, ts, tool, upstream, model: model ?? requested },
    cost: documentCost(cost),
    worth: worth === null ? null : documentCost(worth),
    missed: documentMiss(record, missed),
  };
}
