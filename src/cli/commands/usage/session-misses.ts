import { ledgerDirectory } from "../../../adapters/paths.ts";
import type { Config } from "../../../core/config/config.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { describeMiss } from "../../../core/misses/reasons.ts";
import { missedCostOf, type MissedCost } from "../../../core/price/missed.ts";
import { formatDollars, formatMoney } from "../../../core/price/money.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { readLastRecords } from "../../ledger/last-records.ts";
import { formatNumber } from "../../terminal/format.ts";
import { layOutTable, type TableView } from "../../terminal/table.ts";
import { dayOf } from "../live/request-row.ts";

/** So many are shown, the latest ones. */
const MOST_MISSES = 20;

/** A request of a session that missed the cache. */
export interface SessionMiss {
  record: UsageRecord;
  cost: MissedCost;
}

/**
 * Reads the requests that missed the cache, the latest ones of those that are wanted.
 * @param count how many there are: the days before the first of them are not read
 */
export async function readMisses(
  config: Config,
  count: number,
  isWanted: (record: UsageRecord) => boolean,
  prices: PriceBook,
): Promise<SessionMiss[]> {
  if (count === 0) return [];
  const most = Math.min(count, MOST_MISSES);
  const isMissed = (record: UsageRecord) => record.miss !== null && isWanted(record);
  const records = await readLastRecords(ledgerDirectory(config), most, isMissed);
  return records.flatMap((record) => {
    const cost = missedCostOf(record, prices);
    return cost === null ? [] : [{ record, cost }];
  });
}

/** Renders the misses as a table, the latest one last. */
export function renderMisses(misses: readonly SessionMiss[], view: TableView): string {
  const columns = [
    { head: "cache missed", align: "left", long: "whole" },
    { head: "agent", align: "left" },
    { head: "why", align: "left" },
    { head: "tokens", align: "right" },
    { head: "over a hit", align: "right" },
  ] as const;
  const rows = misses.map(({ record, cost }) => [
    dayOf(record.ts),
    toPrintable(record.agent ?? "main"),
    `${toPrintable(describeMiss(record.miss ?? ""))} (${record.miss_by === "said" ? "says the service" : "inferred"})`,
    record.miss_tokens === null ? "" : formatNumber(record.miss_tokens),
    formatLoss(cost),
  ]);
  return layOutTable(columns, rows, view).text;
}

/** What plans paid is in brackets, as it is in no cost. */
function formatLoss({ amount, worth, isExact }: MissedCost): string {
  const sign = isExact ? "" : "≥";
  return worth === null ? `${sign}${formatDollars(amount)}` : `(${sign}${formatDollars(worth)})`;
}

/** Returns the misses for programs. */
export function documentMisses(misses: readonly SessionMiss[]): object[] {
  return misses.map(({ record, cost: { amount, worth, isExact } }) => ({
    id: record.id,
    ts: record.ts,
    agent: record.agent,
    miss: record.miss,
    miss_by: record.miss_by,
    miss_tokens: record.miss_tokens,
    miss_cost_usd: formatMoney(amount),
    miss_plan_worth_usd: worth === null ? null : formatMoney(worth),
    miss_cost_is_exact: isExact,
  }));
}
