import { formatInColumn, type Money } from "../../../core/price/money.ts";
import type { SpendingCost } from "../../../core/price/spending.ts";
import type { ReportRow } from "../../../core/ledger/report.ts";
import type { Tally } from "../../../core/ledger/tally.ts";
import { formatCost, formatShare } from "../../prices/format-cost.ts";
import { formatNumber } from "../../terminal/format.ts";

/** A column of a report: its heading, and what a row has there. */
export interface Column {
  head: string;
  cell(row: ReportRow, total: ReportRow): string;
  /** False where the column would say nothing in any row. */
  isUseful?(total: ReportRow): boolean;
  /** `terminal`: only there, because it is drawn; `wide`: only if asked for. */
  only?: "terminal" | "wide";
  /** A column of a higher number gives way first where the terminal is narrow. */
  order: number;
}

type Count = {
  [Name in keyof Tally]: Tally[Name] extends number ? Name : never;
}[keyof Tally];

const countColumn = (name: Count, head: string, order: number): Column => ({
  head,
  cell: ({ sums }) => formatNumber(sums[name]),
  order,
});

const ifAny = (name: Count) => ({ isUseful: ({ sums }: ReportRow) => sums[name] !== 0 });

/** In the order shown. */
export const COLUMNS: readonly Column[] = [
  {
    head: "cost",
    cell: ({ cost }, total) => formatCost(cost, formatInColumn(cost.amount, total.cost.amount)),
    order: 0,
  },
  {
    head: "share",
    cell: ({ cost }, total) => (isKnown(cost) ? drawShare(cost.amount, total.cost.amount) : ""),
    isUseful: ({ cost }) => cost.amount > 0n,
    only: "terminal",
    order: 5,
  },
  {
    head: "billed",
    cell: ({ cost }, total) => formatInColumn(cost.billed, total.cost.amount),
    isUseful: ({ cost }) => cost.billed > 0n,
    only: "wide",
    order: 9,
  },
  countColumn("requests", "requests", 2),
  { head: "input", cell: ({ sums }) => formatNumber(inputOf(sums)), order: 1 },
  { head: "cached", cell: ({ sums }) => formatShare(sums.cache_read, inputOf(sums)), order: 4 },
  { ...countColumn("input_uncached", "uncached input", 9), only: "wide" },
  { ...countColumn("cache_read", "cache read", 9), only: "wide" },
  { ...countColumn("cache_write", "cache write", 9), only: "wide" },
  {
    head: "saved",
    cell: ({ cost }, total) => formatSaved(cost.saved, total.cost.amount),
    only: "wide",
    order: 9,
  },
  countColumn("output", "output", 3),
  { head: "reasoning", cell: ({ sums }) => reasoningOf(sums), only: "wide", order: 9 },
  { ...countColumn("partial", "partial", 8), ...ifAny("partial") },
  { ...countColumn("absent", "unknown", 7), ...ifAny("absent") },
  { ...countColumn("failed", "failed", 6), ...ifAny("failed") },
  { ...countColumn("cut", "cut", 9), ...ifAny("cut"), only: "wide" },
  { ...countColumn("retries", "retries", 9), ...ifAny("retries"), only: "wide" },
  timeColumn("first token p50", 0.5),
  timeColumn("first token p95", 0.95),
  speedColumn("tokens/s p50", 0.5),
  speedColumn("tokens/s p95", 0.95),
];

function timeColumn(head: string, share: number): Column {
  const cell = ({ sums }: ReportRow) => {
    const value = sums.ttft.quantile(share);
    return value === null ? "" : `${rounded(value)} ms`;
  };
  return { head, cell, only: "wide", order: 9 };
}

function speedColumn(head: string, share: number): Column {
  const cell = ({ sums }: ReportRow) => {
    const value = sums.speed.quantile(share);
    return value === null ? "" : rounded(value);
  };
  return { head, cell, only: "wide", order: 9 };
}

/** All input tokens. */
export function inputOf({ input_uncached, cache_read, cache_write }: Tally): number {
  return input_uncached + cache_read + cache_write;
}

/** False where nothing of a cost is known. */
function isKnown({ amount, isExact }: SpendingCost): boolean {
  return amount > 0n || isExact;
}

/** Negative where the cache cost more than it saved. */
function formatSaved(amount: Money, total: Money): string {
  return amount < 0n ? `-${formatInColumn(-amount, total)}` : formatInColumn(amount, total);
}

const BAR_CELLS = 6;
/** From one eighth of a cell to seven. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws e.g. `██▋     45%`. */
function drawShare(part: Money, whole: Money): string {
  const share = whole === 0n ? 0 : Number((part * 10_000n) / whole) / 10_000;
  const eighths = Math.round(share * BAR_CELLS * 8);
  const bar = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  return `${bar.padEnd(BAR_CELLS)} ${formatShare(share, 1).padStart(4)}`;
}

/** To three significant digits: a quantile is not exact. */
function rounded(value: number): string {
  return formatNumber(Number(value.toPrecision(3)));
}

/** `≥` marks a sum of which a part is unknown. */
function reasoningOf({ reasoning, reasoning_unknown: unknown }: Tally): string {
  if (reasoning === null) return unknown > 0 ? "unknown" : "0";
  return `${unknown > 0 ? "≥" : ""}${formatNumber(reasoning)}`;
}
