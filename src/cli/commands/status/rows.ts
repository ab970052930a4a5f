import type { LimitHold } from "../../../core/limits/keep.ts";
import type { WindowStatus } from "../../../core/limits/account-limits.ts";
import { describeScope } from "../../../core/policy/pauses.ts";
import type { DaemonStatus, KeyStatus } from "../../../daemon/status.ts";
import { formatTools } from "../../config/format-groups.ts";
import { LIMIT_COLUMNS, limitCells, nameWindow } from "../../limits/format-limits.ts";
import type { FactRow } from "../../terminal/facts.ts";
import { timeInTable } from "../../terminal/short-time.ts";
import type { Cell, Column } from "../../terminal/table.ts";

const left = (order: number, long: NonNullable<Column["long"]>) =>
  ({ head: "", align: "left", order, long }) as const;

const UPSTREAM_COLUMNS = [left(0, "cut"), left(1, "whole"), left(0, "whole")];

/** Returns an upstream's row: its name, its address, and how its last request ended. */
export function upstreamRow(
  { name, lastExchange, failing }: DaemonStatus["upstreams"][number],
  where: string,
  age: (at: string) => string,
): FactRow {
  const last =
    lastExchange === null
      ? "not used yet"
      : `${[lastExchange.outcome, lastExchange.status].filter((one) => one !== null).join(" ")}, ${age(lastExchange.at)}`;
  const state: Cell = { text: last, tone: failing === null ? "plain" : "failure" };
  return { columns: UPSTREAM_COLUMNS, cells: [name, where, state] };
}

const GROUP_COLUMNS: readonly Column[] = [
  left(0, "cut"),
  { head: "", align: "left", order: 1 },
  left(0, "whole"),
];

/** Returns a group's row: its name, its models and its tools. */
export function groupRow({ name, models, tools }: DaemonStatus["groups"][number]): FactRow {
  const allowed = models === null ? "all models" : models.join(" ");
  return { columns: GROUP_COLUMNS, cells: [name, allowed, `for ${formatTools(tools)}`] };
}

/** Here the bar stays longer than how old the figure is. */
const ORDERS = [1, 0, 3, 0, 4];
const ACCOUNT_COLUMNS: readonly Column[] = [
  left(0, "cut"),
  left(0, "whole"),
  ...LIMIT_COLUMNS.map((column, at) => ({ ...column, order: ORDERS[at] ?? 0 })),
];

/** Returns the row of an account's fullest window. `now` in ms since 1970. */
export function limitRow(account: string, window: WindowStatus, now: number): FactRow {
  return { columns: ACCOUNT_COLUMNS, cells: [account, nameWindow(window), ...limitCells(window, now)] };
}

const HOLD_COLUMNS = [left(0, "cut"), left(0, "whole"), left(0, "whole"), left(1, "whole")];

/**
 * Returns the row of what a brake keeps back, with what lets it pass below. `now` in ms since 1970.
 * @param isLast false where the next row has the same remedy, which is said once
 */
export function holdRow(hold: LimitHold, now: number, isLast = true): FactRow {
  const { account, leftPercent, keep, resetsAt, lift } = hold;
  const until = `until ${timeInTable(Date.parse(resetsAt), now)}`;
  const share = `${Math.round(leftPercent * 10) / 10}% left, waits below ${keep}%`;
  return {
    columns: HOLD_COLUMNS,
    cells: [describeScope(hold), { text: until, tone: "warning" }, share, `${account} ${nameWindow(hold)}`],
    below: isLast ? [{ text: `to let it pass, type: ${lift}`, tone: "faint" }] : [],
  };
}

const KEY_COLUMNS: readonly Column[] = [
  left(0, "cut"),
  { head: "", align: "left" },
  { head: "", align: "left" },
  { head: "", align: "left", order: 1, long: "path" },
];

/** Returns a key's row: its name, its upstream, its state, and where it is from. */
export function keyRow(
  { name, upstream, state, source }: Pick<KeyStatus, "name" | "upstream" | "state" | "source">,
  times: string,
): FactRow {
  const tone = state === "present" || state === "not_asked" ? "plain" : "failure";
  const shown = `${state === "not_asked" ? "not asked yet" : state}${times}`;
  return { columns: KEY_COLUMNS, cells: [name, upstream, { text: shown, tone }, source] };
}
