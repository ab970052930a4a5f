import { describeWindow, RETRY } from "../../core/limits/limit-names.ts";
import type { WindowStatus } from "../../core/limits/account-limits.ts";
import { formatAge } from "../../core/text/age.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { formatNumber } from "../terminal/format.ts";
import { drawPercent } from "../terminal/percent-bar.ts";
import { timeInTable } from "../terminal/short-time.ts";
import type { Tone } from "../terminal/styles.ts";
import { layOutTable, type Cell, type Column, type TableView } from "../terminal/table.ts";

/** A window of an account's limits, and what is said below it. */
interface ShownWindow extends WindowStatus {
  below: readonly string[];
}

/** An account and its windows, the fullest first. */
export interface ShownLimits {
  account: string;
  windows: readonly ShownWindow[];
}

/** From this share of a limit on, it is to be noticed, as a budget is. */
const WARNING_PERCENT = 80;

/** The columns of {@link limitCells}. */
export const LIMIT_COLUMNS: readonly Column[] = [
  { head: "used", align: "right" },
  { head: "", align: "left", order: 2 },
  { head: "left", align: "right", order: 3 },
  { head: "then", align: "left", long: "whole" },
  { head: "seen", align: "left", long: "whole", order: 1 },
];

const COLUMNS: readonly Column[] = [{ head: "limit of", align: "left" }, ...LIMIT_COLUMNS];

/** Formats the limits of all accounts as a table, each account with its windows below its name. `now` in ms since 1970. */
export function formatLimits(accounts: readonly ShownLimits[], now: number, view: TableView): string {
  const rows: Cell[][] = [];
  const below: Cell[][] = [];
  for (const { account, windows } of accounts) {
    rows.push([{ text: toPrintable(account), tone: "strong" }]);
    below.push([]);
    for (const { below: said, ...window } of windows) {
      rows.push([`  ${nameWindow(window)}`, ...limitCells(window, now)]);
      below.push(said.map((text) => ({ text: toPrintable(text), tone: "faint" })));
    }
  }
  const isUseful = COLUMNS.map((_, at) => rows.some((row) => textOf(row[at]) !== ""));
  const kept = <T>(cells: readonly T[]) => cells.filter((_, at) => isUseful[at]);
  return layOutTable(kept(COLUMNS), rows.map(kept), { ...view, indent: 4 }, below).text;
}

function textOf(cell: Cell = ""): string {
  return typeof cell === "string" ? cell : cell.text;
}

/** Names a window in few words: `5-hour window`, `requests`. */
export function nameWindow({ window }: Pick<WindowStatus, "window">): string {
  return window === RETRY ? "all requests" : describeWindow(window).replace(/^the (?:limit of )?/, "");
}

/** Says of a window how much is used and left, what happens to it next, and how old that is. `now` in ms since 1970. */
export function limitCells(status: WindowStatus, now: number): Cell[] {
  const { state, usedPercent, limit, remaining, seenAt } = status;
  const tone = toneOfLimit(status);
  const counts =
    limit === null || remaining === null ? "" : `${writeNumber(remaining)} of ${writeNumber(limit)}`;
  const isKnown = state === "seen" && usedPercent !== null;
  const cells = [
    isKnown ? `${writeNumber(usedPercent)}%` : "",
    isKnown ? drawPercent(usedPercent) : "",
    isKnown ? counts : "",
    describeNext(status, now),
    state === "reset" ? "not since" : formatAge(Date.parse(seenAt), now),
  ];
  return cells.map((text, at) => ({ text, tone: at < 2 || tone === "faint" ? tone : "plain" }));
}

function toneOfLimit({ state, usedPercent }: WindowStatus): Tone {
  if (state === "reset") return "faint";
  if (usedPercent === null || usedPercent < WARNING_PERCENT) return "plain";
  return usedPercent >= 100 ? "failure" : "warning";
}

function describeNext({ window, state, resetsAt }: WindowStatus, now: number): string {
  const at = resetsAt === null ? null : timeInTable(Date.parse(resetsAt), now);
  if (window === RETRY && state === "reset") return "waiting is over";
  if (window === RETRY) return at === null ? "the service asked to wait" : `wait until ${at}`;
  if (at === null) return "";
  return state === "reset" ? `was reset ${at}` : `resets ${at}`;
}

/** One decimal at most: services say shares of whole percents, or counts. */
function writeNumber(value: number): string {
  return formatNumber(Math.round(value * 10) / 10);
}
