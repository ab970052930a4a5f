import { formatInColumn, type Money } from "../../../core/price/money.ts";
import type { SpendingCost } from "../../../core/price/spending.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow } from "../../../core/ledger/report.ts";
import { sumTokens, type Tally } from "../../../core/ledger/tally.ts";
import { formatCost, formatShare } from "../../prices/format-cost.ts";
import { formatNumber } from "../../terminal/format.ts";

/** A column of a report: its heading, and what a row has there. */
export interface Column {
  head: string;
  cell(row: ReportRow, total: ReportRow): string;
  /** False where the column would say nothing in any row. */
  isUseful?(total: ReportRow): boolean;
  /** True where the above reads the times of all requests, which takes as long as the report. */
  readsTimes?: boolean;
  /** Rows by this have what the column would say as their names. */
  unlessBy?: Grouping;
  /** `terminal`: only there, because it is drawn; `wide`: only if asked for. */
  only?: "terminal" | "wide";
  /** A column of a higher number gives way first where the terminal is narrow. What it tells may depend on the report. */
  order: number | ((total: ReportRow) => number);
}

/** What columns are about, in the order in which all of them are shown: what most want to know comes first. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  overview: [
    "cost",
    "worth",
    "own keys",
    "share",
    "requests",
    "missed",
    "over a hit",
    "tokens in",
    "from cache",
    "tokens out",
  ],
  money: ["paid by", "reported", "saved"],
  requests: ["refused", "failed", "cut short", "retries", "partial", "uncounted"],
  input: ["uncached", "cache read", "cache write"],
  output: ["reasoning"],
  speed: ["first token", "slowest 5%", "tokens/s", "fastest 5%"],
};

/** Returns what a column is about. */
export function groupOf({ head }: Column): string {
  return Object.keys(GROUPS).find((group) => GROUPS[group]?.includes(head) === true) ?? "";
}

/** Returns columns by what they are about, the most important first. */
export function inGroups(columns: readonly Column[]): Column[] {
  const places = Object.values(GROUPS).flat();
  const placeOf = ({ head }: Column) => places.indexOf(head);
  return columns.toSorted((one, other) => placeOf(one) - placeOf(other));
}

type Count = {
  [Name in keyof Tally]: Tally[Name] extends number ? Name : never;
}[keyof Tally];

const countColumn = (name: Count, head: string, order: number): Column => ({
  head,
  cell: ({ sums }) => formatNumber(sums[name]),
  order,
});

/** Tokens: a lower bound where responses were partial or uncounted, and unknown where all were uncounted. */
const tokenColumn = (count: (sums: Tally) => number, head: string, order: number): Column => ({
  head,
  cell: ({ sums }) => formatTokens(count(sums), sums),
  order,
});

const ifAny = (name: Count) => ({ isUseful: ({ sums }: ReportRow) => sums[name] !== 0 });

/** In the order shown. */
export const COLUMNS: readonly Column[] = [
  {
    head: "cost",
    cell: formatCostOf,
    order: 0,
  },
  {
    head: "worth",
    cell: ({ cost: { worth } }, { cost }) =>
      worth === null ? "" : `${worth.isExact ? "" : "≥"}${formatInColumn(worth.amount, scaleOf(cost))}`,
    isUseful: ({ cost }) => cost.worth !== null,
    order: ({ cost }) => (isMuch(cost.worth?.amount ?? 0n, cost.amount) ? 1 : 7),
  },
  {
    head: "own keys",
    cell: ({ cost: { ownWorth } }, { cost }) =>
      ownWorth === null
        ? ""
        : `${ownWorth.isExact ? "" : "≥"}${formatInColumn(ownWorth.amount, scaleOf(cost))}`,
    isUseful: ({ cost }) => cost.ownWorth !== null,
    order: ({ cost }) => (isMuch(cost.ownWorth?.amount ?? 0n, cost.amount) ? 1 : 7),
  },
  {
    head: "paid by",
    cell: formatPayers,
    isUseful: ({ sums }) => sums.plan_requests + sums.extra_requests + sums.own_requests > 0,
    unlessBy: "account",
    order: 8,
  },
  {
    head: "share",
    cell: ({ cost }, total) => (cost.amount > 0n ? drawShare(cost.amount, total.cost.amount) : ""),
    isUseful: ({ cost }) => cost.amount > 0n,
    only: "terminal",
    order: 2,
  },
  {
    head: "reported",
    cell: ({ cost }, total) =>
      cost.billed === 0n ? UNKNOWN : formatInColumn(cost.billed, total.cost.amount),
    isUseful: ({ cost }) => cost.billed > 0n,
    only: "wide",
    order: 9,
  },
  { head: "requests", cell: ({ sums }) => formatNumber(allRequestsOf(sums)), order: 1 },
  tokenColumn(inputOf, "tokens in", 2.5),
  { head: "from cache", cell: ({ sums }) => formatShare(sums.cache_read, inputOf(sums)), order: 4 },
  {
    head: "missed",
    cell: ({ sums }) => (sums.misses === 0 ? "" : formatNumber(sums.miss_tokens)),
    isUseful: ({ missed }) => missed != null,
    order: 1,
  },
  {
    head: "over a hit",
    cell: formatMissed,
    isUseful: ({ missed }) => missed != null,
    order: 0,
  },
  { ...tokenColumn((sums) => sums.input_uncached, "uncached", 9), only: "wide" },
  { ...tokenColumn((sums) => sums.cache_read, "cache read", 9), only: "wide" },
  { ...tokenColumn((sums) => sums.cache_write, "cache write", 9), only: "wide" },
  {
    head: "saved",
    cell: formatSaved,
    only: "wide",
    order: 9,
  },
  tokenColumn(({ output }) => output, "tokens out", 3),
  {
    head: "reasoning",
    cell: ({ sums }) => reasoningOf(sums),
    isUseful: ({ sums }) => sums.reasoning !== 0 || sums.reasoning_unknown > 0,
    only: "wide",
    order: 9,
  },
  { ...countColumn("partial", "partial", 10), ...ifAny("partial") },
  { ...countColumn("absent", "uncounted", 9), ...ifAny("absent") },
  { ...countColumn("refused", "refused", 6), ...ifAny("refused"), unlessBy: "outcome" },
  {
    head: "failed",
    cell: ({ sums }) => formatNumber(failedOf(sums)),
    isUseful: ({ sums }) => failedOf(sums) > 0,
    unlessBy: "outcome",
    order: 6,
  },
  {
    ...countColumn("cut", "cut short", 9),
    isUseful: ({ sums: { cut, partial } }) => cut !== 0 && cut !== partial,
    only: "wide",
  },
  { ...countColumn("retries", "retries", 9), ...ifAny("retries"), only: "wide" },
  timeColumn("first token", 0.5),
  timeColumn("slowest 5%", 0.95),
  speedColumn("tokens/s", 0.5),
  speedColumn("fastest 5%", 0.95),
];

/** True where the cost alone would hide most of what was used. */
function isMuch(worth: Money, cost: Money): boolean {
  return worth * 5n >= cost;
}

/** What decides how many decimals amounts beside each other have: the largest total of their columns. */
export function scaleOf({ amount, worth, ownWorth }: SpendingCost): Money {
  return [amount, worth?.amount ?? 0n, ownWorth?.amount ?? 0n].reduce((most, one) =>
    one > most ? one : most,
  );
}

/** Stands where a value is not known. */
const UNKNOWN = "–";

function timeColumn(head: string, share: number): Column {
  const cell = ({ sums }: ReportRow) => {
    const value = sums.ttft.quantile(share);
    return value === null ? "" : `${rounded(value)} ms`;
  };
  const isUseful = ({ sums }: ReportRow) => sums.ttft.quantile(share) !== null;
  return { head, cell, isUseful, readsTimes: true, only: "wide", order: 9 };
}

function speedColumn(head: string, share: number): Column {
  const cell = ({ sums }: ReportRow) => {
    const value = sums.speed.quantile(share);
    return value === null ? "" : rounded(value);
  };
  const isUseful = ({ sums }: ReportRow) => sums.speed.quantile(share) !== null;
  return { head, cell, isUseful, readsTimes: true, only: "wide", order: 9 };
}

/** Every request: those that spent tokens or may have, those that failed and those that tollkeeper refused. */
export function allRequestsOf({ requests, failed }: Tally): number {
  return requests + failed;
}

/** Requests that failed, without those that tollkeeper refused, and with those that failed midway. */
export function failedOf({ failed, refused, failed_midway: midway }: Tally): number {
  return failed - refused + midway;
}

/** All input tokens. */
export function inputOf({ input_uncached, cache_read, cache_write }: Tally): number {
  return input_uncached + cache_read + cache_write;
}

/** `free` where tokens cost nothing, `plan` where one paid, `own` where a tool's own key did, and `unknown` where no usage is known. */
export function formatCostOf({ sums, cost }: ReportRow, total: ReportRow): string {
  if (isFree(cost) && sums.plan_requests > 0) return "plan";
  if (isFree(cost) && sums.own_requests > 0) return "own";
  if (isFree(cost) && sumTokens(sums) > 0) return "free";
  return formatCost(cost, formatInColumn(cost.amount, total.cost.amount));
}

/** What plans and tools' own keys paid is in brackets, as it is in no cost. */
function formatMissed({ missed }: ReportRow, total: ReportRow): string {
  if (missed == null) return "";
  const { amount, worth, isExact } = missed;
  const whole = total.missed ?? missed;
  const parts = [
    (amount > 0n || worth === null) && formatInColumn(amount, whole.amount),
    worth !== null && `(${formatInColumn(worth, whole.worth ?? worth)})`,
  ].filter((part) => part !== false);
  return `${isExact ? "" : "≥"}${parts.join(" ")}`;
}

/** Names the accounts that paid. What cost nothing was paid by none. */
function formatPayers({ sums, cost }: ReportRow): string {
  const { requests, plan_requests: byPlan, extra_requests: extra, own_requests: byOwnKey } = sums;
  const isKeyCharged = requests > byPlan + extra + byOwnKey && !isFree(cost);
  const payers = [isKeyCharged && "key", byPlan > 0 && "plan", extra > 0 && "extra", byOwnKey > 0 && "own"];
  return payers.filter((one) => one !== false).join(", ");
}

function isFree({ isExact, amount }: SpendingCost): boolean {
  return isExact && amount === 0n;
}

/** Negative where the cache cost more than it saved. What was billed or has no price says nothing of that. */
function formatSaved({ sums, cost }: ReportRow, { cost: { amount: total } }: ReportRow): string {
  const { saved } = cost;
  const isUnknown = sums.cache_read + sums.cache_write > 0 || sums.requests === sums.absent;
  if (saved === 0n && isUnknown && sums.requests > 0) return UNKNOWN;
  return saved < 0n ? `-${formatInColumn(-saved, total)}` : formatInColumn(saved, total);
}

/** Writes a sum of tokens: `≥` where a part of it is unknown, `–` where all is. */
export function formatTokens(count: number, { requests, partial, absent }: Tally): string {
  if (requests > 0 && absent === requests) return UNKNOWN;
  return `${partial + absent > 0 ? "≥" : ""}${formatNumber(count)}`;
}

const BAR_CELLS = 6;
/** From one eighth of a cell to seven. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws e.g. `██▋     45%`. */
function drawShare(part: Money, whole: Money): string {
  const share = Number(part) / Number(whole);
  const eighths = Math.round(share * BAR_CELLS * 8);
  const bar = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  return `${bar.padEnd(BAR_CELLS)} ${formatShare(Number(part), Number(whole)).padStart(4)}`;
}

/** To three significant digits: a quantile is not exact. */
function rounded(value: number): string {
  return formatNumber(Number(value.toPrecision(3)));
}

/** `≥` marks a sum of which a part is unknown. */
function reasoningOf(sums: Tally): string {
  const { reasoning, reasoning_unknown: unknown } = sums;
  if (reasoning === null) return unknown > 0 ? UNKNOWN : formatTokens(0, sums);
  return unknown > 0 ? `≥${formatNumber(reasoning)}` : formatTokens(reasoning, sums);
}
