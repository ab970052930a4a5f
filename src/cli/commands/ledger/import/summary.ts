import type { ImportedRecord, Source } from "../../../../core/ledger/import/imported-record.ts";
import { toPriced } from "../../../../core/ledger/import/imported-record.ts";
import { costOf } from "../../../../core/price/cost.ts";
import { formatDollars, formatMoney, type Money } from "../../../../core/price/money.ts";
import type { PriceBook } from "../../../../core/price/price-book.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { formatNumber, pluralize } from "../../../terminal/format.ts";
import type { ToolLogs, Unread } from "./read-logs.ts";

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
  unread: Unread;
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
    unread: logs.unread,
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
  const { unclearForks, unread } = summary;
  if (logFiles === 0 && unread.links === 0) return `${source}: no logs were found.`;
  const lines = [
    `${source}: ${pluralize(responses, "response")} in ${pluralize(logFiles, "log file")}`,
    recorded > 0 && `${formatNumber(recorded)} left out: tollkeeper recorded them itself`,
    repeatedLines > 0 && `${pluralize(repeatedLines, "line")} left out: they repeat the usage of a response`,
    unclearForks > 0 &&
      `${pluralize(unclearForks, "session")} left out: forked from a session whose log is missing, so copies cannot be told`,
    ...describeUnread(unread),
    `${isDryRun ? "to import" : "imported"}: ${formatNumber(imported)} (${formatNumber(added)} new)${imported > 0 ? `, in ${directory}` : ""}`,
    ...(imported > 0 ? describeSums(summary) : []),
  ];
  return lines.filter((line) => line !== false).join("\n  ");
}

/** So many files are named. */
const MOST_NAMED = 10;

function describeUnread({ files, links, longLines, unclearLines }: Unread): string[] {
  const named = files
    .slice(0, MOST_NAMED)
    .flatMap(({ message, hint }) => [
      `not read: ${toPrintable(message)}`,
      ...(hint === undefined ? [] : [`  hint: ${toPrintable(hint)}`]),
    ]);
  const rest = files.length - MOST_NAMED;
  const lines = [
    rest > 0 && `not read: ${pluralize(rest, "more file")}, which the output of --json names`,
    links > 0 && `not read: ${pluralize(links, "link")}, because links are not followed`,
    longLines > 0 && `not read: ${pluralize(longLines, "line")} of more than 16 MiB`,
    unclearLines > 0 &&
      `not read: ${pluralize(unclearLines, "line")} with usage that ${unclearLines === 1 ? "is" : "are"} not whole, or without an id or a time`,
  ];
  return [...named, ...lines.filter((line) => line !== false)];
}

function describeSums({ tokens, cost, partial, firstTs, lastTs }: ImportSummary): string[] {
  const { inputUncached, cacheRead, cacheWrite, output } = tokens;
  const names = toPrintable(cost.unpricedModels.join(", "));
  return [
    `from ${firstTs?.slice(0, 10)} to ${lastTs?.slice(0, 10)} (UTC): ${formatNumber(inputUncached)} uncached input, ${formatNumber(cacheRead)} cache read, ${formatNumber(cacheWrite)} cache write, ${formatNumber(output)} output`,
    `at the prices of the API: ${describeCost(cost)}${names === "" ? "" : `; without a price: ${names}`}`,
    ...(partial > 0
      ? [`${formatNumber(partial)} lower bounds: the log has counts from the start of a stream`]
      : []),
  ];
}

/** What has no price costs nothing that could be named. */
function describeCost({ amount, isLowerBound, unpricedModels }: ImportSummary["cost"]): string {
  if (amount === 0n && unpricedModels.length > 0) return "unknown";
  return `${isLowerBound ? "at least " : ""}${formatDollars(amount)}`;
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
    sources: summaries.map(({ cost, unread, ...summary }) => {
      const { amount, isLowerBound, unpricedModels } = cost;
      const amountUsd = amount === 0n && unpricedModels.length > 0 ? null : formatMoney(amount);
      const files = unread.files.map(({ message, hint }) => ({ message, hint: hint ?? null }));
      return {
        ...summary,
        unread: { ...unread, files },
        cost: { amountUsd, isLowerBound, unpricedModels },
      };
    }),
  };
}
