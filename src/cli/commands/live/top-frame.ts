import type { Activity } from "../../../core/ledger/recent-activity.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import type { AccountStatus } from "../../../core/limits/account-limits.ts";
import { summariseWindow, usedWindows, type UsedWindow } from "../../../core/limits/describe-limits.ts";
import { formatDollars } from "../../../core/price/money.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatShare } from "../../prices/format-cost.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { shorten, widthOf } from "../../terminal/width.ts";
import { MOST_CHARACTERS, wrapAdvice } from "../../terminal/wrap.ts";
import { fillColumns, headLine, rowLine, type FixedColumn } from "../../terminal/fixed-columns.ts";
import { drawPercent } from "../../terminal/percent-bar.ts";
import { inTone, type Tone } from "../../terminal/styles.ts";
import { AGENT, describeRunningRequest, RUNNING_COLUMNS } from "./request-row.ts";

/** What tools can be sorted by. */
export const SORTINGS = ["cost", "running", "requests", "name"] as const;
export type Sorting = (typeof SORTINGS)[number];

/** What is on the screen. */
export interface TopState {
  /** e.g. `127.0.0.1:8655`. */
  address: string;
  /** Milliseconds since 1970. */
  now: number;
  tools: ReadonlyMap<string, Activity>;
  all: Activity;
  running: readonly RunningRequest[];
  /** How many requests run; only the newest are in `running`. */
  runningTotal: number;
  /** How much is used of the services' own limits, by account. */
  limits: readonly AccountStatus[];
  /** What was last to be known at once, such as a budget's warning; null without any in the last hour. */
  notice: string | null;
  sorting: Sorting;
  /** Only tools and models with this in their names. */
  filter: string;
  /** The bottom line: keys, or what is wrong. */
  footer: string;
  isWrong: boolean;
}

/** The size of a terminal, and whether it has colours. Infinity where nothing limits it. */
interface TopView {
  columns: number;
  rows: number;
  isColoured: boolean;
}

/** `most` is the largest count in the history of any tool. */
type ToolRow = readonly [tool: string, activity: Activity, share: number, most: number];

const right = (head: string, width: number, order: number, text: (activity: Activity) => string) =>
  ({ head, width, align: "right", order, text: ([, activity]: ToolRow) => text(activity) }) as const;

const TOOL_COLUMNS: readonly FixedColumn<ToolRow>[] = [
  { head: "tool", width: 14, most: 32, align: "left", order: 0, text: ([tool]) => toPrintable(tool) },
  right("running", 8, 1, ({ running }) => (running === 0 ? "" : formatNumber(running))),
  right("req/min", 7, 7, (activity) => rate(activity.requestsPerMinute)),
  right("in/min", 9, 8, (activity) => rate(activity.inputPerMinute)),
  right("out/s", 7, 8, (activity) => rate(activity.outputPerSecond)),
  right("requests/h", 11, 3, ({ requests }) => formatNumber(requests)),
  right("failed/h", 8, 2, ({ failed }) => (failed === 0 ? "" : formatNumber(failed))),
  right("refused/h", 9, 6, ({ refused }) => (refused === 0 ? "" : formatNumber(refused))),
  right("cached", 6, 9, ({ cacheRead, input }) => formatShare(cacheRead, input)),
  {
    head: "last hour",
    width: 12,
    align: "left",
    order: 5,
    text: ([, { history }, , most]) => drawHistory(history, most),
  },
  right("cost/h", 10, 0, describeSpent),
  {
    head: "share",
    width: 5,
    align: "right",
    order: 4,
    text: ([, , share]) => (share === 0 ? "" : `${share}%`),
  },
  {
    head: "",
    width: 10,
    align: "left",
    order: 10,
    room: 10,
    text: ([, , share]) => (share === 0 ? "" : drawPercent(share)),
  },
];

const BARS = " ▁▂▃▄▅▆▇█";

/** Draws counts as bars beside each other, of which the one of `most` is full. A count that is not 0 is always seen. */
function drawHistory(counts: readonly number[], most: number): string {
  return counts
    .map((count) => BARS[Math.ceil((count * (BARS.length - 1)) / Math.max(1, most))] ?? "")
    .join("");
}

/** The column that tools are sorted by. */
const SORTED: Readonly<Record<Sorting, string>> = {
  cost: "cost/h",
  running: "running",
  requests: "requests/h",
  name: "tool",
};

const WITHOUT_AGENT = RUNNING_COLUMNS.filter(({ head }) => head !== AGENT);

/** From this share of a limit on, it is to be noticed, as a budget is. */
const WARNING_PERCENT = 80;

/** Lines that are no rows: the head of the screen and of each part, and the bottom line. */
const FIXED_LINES = 7;
/** A lower terminal shows no notice. */
const ROWS_FOR_NOTICE = 20;
/** Tools have so much of the screen at most, so that running requests have the rest. */
const SHARE_OF_TOOLS = 0.5;

/** Draws the screen as lines: as many as there are rows, none longer than the terminal is wide. */
export function renderTop(state: TopState, view: TopView): string[] {
  const { columns, rows, isColoured } = view;
  const limits = limitLines(state.limits, view);
  const notice = noticeLines(state.notice, view);
  const room = Math.max(2, rows - FIXED_LINES - limits.length - notice.length);
  const tools = sortTools(state);
  const toolRows = Math.min(tools.length, Math.max(1, Math.ceil(room * SHARE_OF_TOOLS)));
  const running = state.running.filter(({ tool, model, model_requested: requested }) =>
    [tool, model ?? requested ?? ""].some((name) => name.includes(state.filter)),
  );
  const runningRows = Math.max(0, Math.min(running.length, room - toolRows));
  const toolColumns = fillColumns(TOOL_COLUMNS, columns).map((column) =>
    column.head === SORTED[state.sorting] ? { ...column, head: `${column.head}↓` } : column,
  );
  const requests = running.map(describeRunningRequest);
  const hasAgents = requests.some(({ agent }) => agent !== "");
  const runningColumns = fillColumns(hasAgents ? [...RUNNING_COLUMNS] : WITHOUT_AGENT, columns);
  const strong = (line: string) => inTone(shorten(line, columns), "strong", isColoured);
  const lines = [
    strong(`tollkeeper at ${state.address}, ${new Date(state.now).toTimeString().slice(0, 8)}`),
    describeAll(state, columns),
    ...limits,
    ...notice,
    "",
    strong(headLine(toolColumns, columns)),
    ...tools.slice(0, toolRows).map((row) => rowLine(toolColumns, columns, row)),
    shorten(more(tools.length - toolRows, "tool"), columns),
    running.length === 0
      ? inTone("no request is running", "faint", isColoured)
      : strong(headLine(runningColumns, columns)),
    ...requests
      .slice(requests.length - runningRows)
      .map((row) => inTone(rowLine(runningColumns, columns, row), "running", isColoured)),
  ];
  const footer = inTone(shorten(state.footer, columns), state.isWrong ? "warning" : "faint", isColoured);
  const blank = rows === Infinity ? 0 : Math.max(0, rows - lines.length - 1);
  return [...lines.slice(0, rows - 1), ...Array.from({ length: blank }, () => ""), footer];
}

const BETWEEN_ACCOUNTS = " · ";

/** So many lines of limits at most. */
const LIMIT_LINES = 2;

/** As many windows of an account as a line has room for. */
const MOST_WINDOWS = 3;

/** What is known of the services' limits, account by account, with bars where two lines have room for them. */
function limitLines(accounts: readonly AccountStatus[], { columns, isColoured }: TopView): string[] {
  const used = usedWindows(accounts, MOST_WINDOWS);
  if (used.length === 0) return [];
  const withBars = layOutLimits(used, columns, isColoured, true);
  const isWhole = withBars.lines.length <= LIMIT_LINES && !withBars.isCut;
  return (isWhole ? withBars : layOutLimits(used, columns, isColoured, false)).lines.slice(0, LIMIT_LINES);
}

/** A window is yellow where little is left of it, and red where nothing is. Where an account has no room, its least used windows are left out. */
function layOutLimits(
  accounts: ReturnType<typeof usedWindows>,
  columns: number,
  isColoured: boolean,
  hasBars: boolean,
): { lines: string[]; isCut: boolean } {
  const lines: { plain: string; shown: string }[] = [];
  let isCut = false;
  for (const [at, { account, windows }] of accounts.entries()) {
    const before = `${at === 0 ? "limits used: " : ""}${toPrintable(account)} `;
    const all = windows.map((one) => describeUsed(one, hasBars));
    const fitting = all.findLastIndex(
      (_, last) => widthOf(before + all.slice(0, last + 1).join(", ")) <= columns,
    );
    const plain = all.slice(0, Math.max(1, fitting + 1));
    isCut ||= fitting + 1 < all.length;
    const shown = plain.map((text, place) => inTone(text, toneOfLimit(windows[place]), isColoured));
    const whole = { plain: before + plain.join(", "), shown: before + shown.join(", ") };
    const cut = shorten(whole.plain, columns);
    const part = cut === whole.plain ? whole : { plain: cut, shown: cut };
    const last = lines.at(-1);
    if (last === undefined || widthOf(last.plain + BETWEEN_ACCOUNTS + part.plain) > columns) lines.push(part);
    else {
      last.plain += BETWEEN_ACCOUNTS + part.plain;
      last.shown += BETWEEN_ACCOUNTS + part.shown;
    }
  }
  return { lines: lines.map(({ shown }) => shown), isCut };
}

function describeUsed(window: UsedWindow, hasBars: boolean): string {
  const text = toPrintable(summariseWindow(window));
  return hasBars ? text.replace(/ (\S+)$/, ` ${drawPercent(window.usedPercent)} $1`) : text;
}

function toneOfLimit(window: UsedWindow | undefined): Tone {
  const percent = window?.usedPercent ?? 0;
  return percent >= 100 ? "failure" : percent >= WARNING_PERCENT ? "warning" : "plain";
}

/** A notice, wrapped: its end is the command to type. A small terminal has no room for it. */
function noticeLines(notice: string | null, { columns, rows, isColoured }: TopView): string[] {
  if (notice === null || rows < ROWS_FOR_NOTICE) return [];
  return wrapAdvice(toPrintable(notice), Math.min(columns, MOST_CHARACTERS)).map((line) =>
    inTone(shorten(line, columns), "warning", isColoured),
  );
}

/** What runs and what it costs; the rates only where there is room for them. */
function describeAll({ all, runningTotal }: TopState, columns: number): string {
  const running = `${formatNumber(runningTotal)} running`;
  const requests = `${pluralize(all.requestsPerMinute, "request")}/min`;
  const tokens = `${rate(all.outputPerSecond) || "0"} tokens/s out`;
  const spent = `${describeSpent(all) || "$0.00"} in the last hour`;
  const lines = [
    [running, requests, tokens, spent],
    [running, requests, spent],
    [running, spent],
  ].map((parts) => parts.join(", "));
  return lines.find((line) => line.length <= columns) ?? shorten(lines.at(-1) ?? "", columns);
}

function sortTools({ tools, all, sorting, filter }: TopState): ToolRow[] {
  const shareOf = ({ spent }: Activity) => (all.spent === 0n ? 0 : Number((spent * 100n) / all.spent));
  const most = Math.max(0, ...[...tools.values()].flatMap(({ history }) => history));
  const rows = [...tools]
    .filter(([tool]) => tool.includes(filter))
    .map(([tool, activity]): ToolRow => [tool, activity, shareOf(activity), most]);
  const byName = (one: ToolRow, other: ToolRow) => (one[0] < other[0] ? -1 : 1);
  const order = {
    cost: ([, one]: ToolRow, [, other]: ToolRow) =>
      Number(other.spent > one.spent) - Number(other.spent < one.spent),
    running: ([, one]: ToolRow, [, other]: ToolRow) => other.running - one.running,
    requests: ([, one]: ToolRow, [, other]: ToolRow) => other.requests - one.requests,
    name: byName,
  }[sorting];
  return rows.sort((one, other) => order(one, other) || byName(one, other));
}

function more(hidden: number, noun: string): string {
  return hidden > 0 ? `and ${pluralize(hidden, `more ${noun}`)}` : "";
}

/** `≥` where a part is not known, and as in `usage` where all of it is not. */
function describeSpent({ spent, isSpentExact, isUnpriced }: Activity): string {
  if (spent === 0n && !isSpentExact) return isUnpriced ? "unpriced" : "unknown";
  if (spent === 0n) return "";
  return `${isSpentExact ? "" : "≥"}${formatDollars(spent)}`;
}

/** Nothing where there is nothing. */
function rate(value: number): string {
  if (value === 0) return "";
  return value < 10 ? formatNumber(Math.round(value * 10) / 10) : formatNumber(Math.round(value));
}
