import type { ImportedRecord, Source } from "../../../../core/ledger/import/imported-record.ts";
import { toPriced } from "../../../../core/ledger/import/imported-record.ts";
import { costOf } from "../../../../core/price/cost.ts";
import { formatDollars, formatMoney, type Money } from "../../../../core/price/money.ts";
import type { PriceBook } from "../../../../core/price/price-book.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { formatNumber, pluralize } from "../../../terminal/format.ts";
import type { ToolLogs } from "./read-logs.ts";

/** What an import found. */
interface Found {
  source: Source;
  logs: ToolLogs;
  /** What the ledger does not have itself. */
  imported: readonly ImportedRecord[];
  /** How many of them were not imported before. */
  added: number;
}

/** An import in numbers. */
export interface ImportSummary {
  source: Source;
  logFiles: number;
  repeatedLines: number;
  unclearForks: number;
  undecodedFiles: number;
  /** Responses in the logs. */
  responses: number;
  /** How many of them tollkeeper recorded itself. */
  recorded: number;
  imported: number;
  added: number;
  /** How many of the imported ones have early counts of a stream. */
  partial: number;
  firstTs: string | null;
  lastTs: string | null;
  tokens: { inputUncached: number; cacheRead: number; cacheWrite: number; output: number };
  cost: { amount: Money; isLowerBound: boolean; unpricedModels: string[] };
}

/** Sums up an import, with what it cost at the prices of the models' makers. */
export function summariseImport({ source, logs, imported, added }: Found, prices: PriceBook): ImportSummary {
  const tokens = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
  for (const { tokens: counts } of imported) {
    tokens.inputUncached += counts?.input_uncached ?? 0;
    tokens.cacheRead += counts?.cache_read ?? 0;
    tokens.cacheWrite += counts?.cache_write ?? 0;
    tokens.output += counts?.output ?? 0;
  }
  const times = imported.map(({ ts }) => ts).toSorted();
  return {
    source,
    logFiles: logs.files,
    repeatedLines: logs.repeatedLines,
    unclearForks: logs.unclearForks,
    undecodedFiles: logs.undecodedFiles,
    responses: logs.records.length,
    recorded: logs.records.length - imported.length,
    imported: imported.length,
    added,
    partial: imported.filter(({ usage }) => usage === "partial").length,
    firstTs: times[0] ?? null,
    lastTs: times.at(-1) ?? null,
    tokens,
    cost: sumCosts(imported, prices),
  };
}

function sumCosts(records: readonly ImportedRecord[], prices: PriceBook): ImportSummary["cost"] {
  let amount = 0n;
  let isLowerBound = false;
  const unpriced = new Set<string>();
  for (const record of records) {
    const cost = costOf(toPriced(record), prices);
    if (cost.kind === "priced") {
      amount += cost.amount;
      isLowerBound ||= cost.isLowerBound;
    } else {
      isLowerBound = true;
      if (cost.kind === "unpriced") amount += cost.atLeast;
      unpriced.add(record.model ?? "unknown");
    }
  }
  return { amount, isLowerBound, unpricedModels: [...unpriced].toSorted() };
}

/** Returns an import as text. `directory`: where it is kept. */
export function describeImport(summary: ImportSummary, isDryRun: boolean, directory: string): string {
  const { source, logFiles, responses, imported, added, recorded, repeatedLines } = summary;
  const { unclearForks, undecodedFiles } = summary;
  if (logFiles === 0) return `${source}: no logs were found.`;
  const lines = [
    `${source}: ${pluralize(responses, "response")} in ${pluralize(logFiles, "log file")}`,
    recorded > 0 && `${formatNumber(recorded)} left out: tollkeeper recorded them itself`,
    repeatedLines > 0 && `${pluralize(repeatedLines, "line")} left out: they repeat the usage of a response`,
    unclearForks > 0 &&
      `${pluralize(unclearForks, "session")} left out: forked from a session whose log is missing, so copies cannot be told`,
    undecodedFiles > 0 && `${pluralize(undecodedFiles, "file")} left out: compressed, and damaged or no zstd`,
    `${isDryRun ? "to import" : "imported"}: ${formatNumber(imported)} (${formatNumber(added)} new)${imported > 0 ? `, in ${directory}` : ""}`,
    ...(imported > 0 ? describeSums(summary) : []),
  ];
  return lines.filter((line) => line !== false).join("\n  ");
}

function describeSums({ tokens, cost, partial, firstTs, lastTs }: ImportSummary): string[] {
  const { inputUncached, cacheRead, cacheWrite, output } = tokens;
  const names = toPrintable(cost.unpricedModels.join(", "));
  return [
    `from ${firstTs?.slice(0, 10)} to ${lastTs?.slice(0, 10)} (UTC): ${formatNumber(inputUncached)} uncached input, ${formatNumber(cacheRead)} cache read, ${formatNumber(cacheWrite)} cache write, ${formatNumber(output)} output`,
    `at the prices of the API: ${cost.isLowerBound ? "at least " : ""}${formatDollars(cost.amount)}${names === "" ? "" : `; without a price: ${names}`}`,
    ...(partial > 0
      ? [`${formatNumber(partial)} lower bounds: the log has counts from the start of a stream`]
      : []),
  ];
}

/** Returns imports as a document for programs. */
export function toDocument(
  directory: string,
  isDryRun: boolean,
  summaries: readonly ImportSummary[],
): object {
  return {
    ledger: directory,
    isDryRun,
    sources: summaries.map(({ cost, ...summary }) => {
      const { amount, isLowerBound, unpricedModels } = cost;
      return { ...summary, cost: { amountUsd: formatMoney(amount), isLowerBound, unpricedModels } };
    }),
  };
}
