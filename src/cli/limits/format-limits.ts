import { describeWindow, RETRY } from "../../core/limits/limit-names.ts";
import type { WindowStatus } from "../../core/limits/account-limits.ts";
import { formatAge } from "../../core/text/age.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { formatNumber } from "../terminal/format.ts";
import { drawPercent } from "../terminal/percent-bar.ts";
import { timeInTable } from "../terminal/short-time.ts";
import type { Tone } from "../terminal/styles.ts";
import { shorten, widthOf } from "../terminal/width.ts";
import { layOutTable, type Cell, type Column, type TableView } from "../terminal/table.ts";

/** Who moved a window: tools, say, each with its share. */
export interface Moved {
  by: string;
  names: readonly string[];
}

/** A window of an account's limits, and what is said below it. */
interface ShownWindow extends WindowStatus {
  below: readonly Moved[];
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
  { head: "", align: "left", order: 2 },
  { head: "used", align: "right" },
  { head: "left", align: "right", order: 3 },
  { head: "then", align: "left", long: "whole" },
  { head: "seen", align: "left", long: "whole", order: 1 },
];

const COLUMNS: readonly Column[] = [
  { head: "limit of", align: "left", long: "cut", legible: 24 },
  ...LIMIT_COLUMNS,
];

/** How far to the right begins what moved a window. */
const INDENT = 4;

/** Formats the limits of all accounts as a table, each account with its windows below its name. `now` in ms since 1970. */
export function formatLimits(accounts: readonly ShownLimits[], now: number, view: TableView): string {
  const rows: Cell[][] = [];
  const below: Cell[][] = [];
  const add = (cells: Cell[], lines: readonly string[]) => {
    rows.push(cells);
    below.push(lines.map((text) => ({ text, tone: "faint" })));
  };
  for (const { account, windows } of accounts) {
    if (rows.length > 0) add([""], []);
    add([{ text: toPrintable(account), tone: "strong" }], []);
    for (const { below: moved, ...window } of windows)
      add(
        [`  ${nameWindow(window)}`, ...limitCells(window, now)],
        moved.flatMap((one) => listMoved(one, view.width - INDENT)),
      );
  }
  const isUseful = COLUMNS.map((_, at) => rows.some((row) => textOf(row[at]) !== ""));
  const kept = <T>(cells: readonly T[]) => cells.filter((_, at) => isUseful[at]);
  return layOutTable(kept(COLUMNS), rows.map(kept), { ...view, indent: INDENT }, below).text;
}

/** What moves a window is named in a column of this width. */
const BY_WIDTH = 9;

/** Lists who moved a window. A name stays with its share, and those that have no room are on a further line. */
function listMoved({ by, names }: Moved, width: number): string[] {
  const lines: string[] = [];
  for (const [at, name] of names.entries()) {
    const text = toPrintable(name) + (at === names.length - 1 ? "" : ",");
    const longer = `${lines.at(-1) ?? ""} ${text}`;
    if (lines.length === 0 || BY_WIDTH + widthOf(longer) > width) lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return lines.map((line, at) => shorten((at === 0 ? by : "").padEnd(BY_WIDTH) + line, width));
}

function textOf(cell: Cell = ""): string {
  return typeof cell === "string" ? cell : cell.text;
}

/** Names a window in few words: `5-hour window`, `7-day (overage-included)`, `requests`. */
export function nameWindow({ window }: Pick<WindowStatus, "window">): string {
  if (window === RETRY) return "all requests";
  return describeWindow(window)
    .replace(/^the (?:limit of )?/, "")
    .replace(" window (", " (");
}

/** Says of a window how much is used and left, what happens to it next, and how old that is. `now` in ms since 1970. */
export function limitCells(status: WindowStatus, now: number): Cell[] {
  const { state, usedPercent, limit, remaining, seenAt } = status;
  const tone = toneOfLimit(status);
  const counts =
    limit === null || remaining === null ? "" : `${writeNumber(remaining)} of ${writeNumber(limit)}`;
  const isKnown = state === "seen" && usedPercent !== null;
  const cells = [
    isKnown ? drawPercent(usedPercent) : "",
    isKnown ? writePercent(usedPercent) : "",
    isKnown ? counts : "",
    describeNext(status, now),
    state === "reset" ? "not since" : formatAge(Date.parse(seenAt), now),
  ];
  const isWaiting = status.window === RETRY && state === "seen";
  const tones: readonly Tone[] = [tone, tone, "plain", isWaiting ? "warning" : "plain"];
  return cells.map((text, at) => ({ text, tone: tone === "faint" ? tone : (tones[at] ?? "plain") }));
}

/** In whole percents, as a budget's. What is not all used is not 100%. */
function writePercent(percent: number): string {
  if (percent > 0 && percent < 1) return "<1%";
  return `${formatNumber(percent < 100 ? Math.min(99, Math.round(percent)) : Math.round(percent))}%`;
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

/** One decimal at most. */
function writeNumber(value: number): string {
  return formatNumber(Math.round(value * 10) / 10);
}
