import type { UsageRecord } from "../../../core/ledger/record.ts";
import type { Cost } from "../../../core/price/cost.ts";
import { documentCost } from "../../prices/cost-document.ts";
import { COST_COLUMNS, costRows } from "../../prices/cost-rows.ts";
import { print } from "../../terminal/console.ts";
import { labelledLine } from "../../terminal/format.ts";
import { formatTable } from "../../terminal/table.ts";

/** Where an amount without lines comes from. */
const ORIGINS: Readonly<Record<string, string>> = {
  billed: "what the service says that it charged",
  free: "free: the sandbox, an upstream that takes no key, or nothing that is paid for",
};

/** Prints what a recorded request cost, line by line. */
export function printRecordCost(record: UsageRecord, cost: Cost): void {
  print(labelledLine("request", `${record.ts}, ${record.tool}`));
  print(labelledLine("model", record.model ?? record.model_requested ?? "unknown"));
  print(labelledLine("upstream", record.upstream));
  if (cost.kind === "unknown") {
    print(labelledLine("cost", "unknown: the service has reported no usage"));
    return;
  }
  const origin = cost.kind === "priced" ? ORIGINS[cost.from] : undefined;
  if (origin !== undefined) print(labelledLine("cost", origin));
  print("");
  print(formatTable(COST_COLUMNS, costRows(cost)));
}

/** Returns the same as a document for programs. */
export function documentRecordCost(
  { id, ts, tool, upstream, model, model_requested: requested }: UsageRecord,
  cost: Cost,
): object {
  return { record: { id, ts, tool, upstream, model: model ?? requested }, cost: documentCost(cost) };
}
