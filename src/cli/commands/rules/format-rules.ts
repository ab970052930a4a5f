import type { Config } from "../../../core/config/config.ts";
import { describeTerms, type BrakeTerms } from "../../../core/policy/brake.ts";
import type { LimitHold } from "../../../core/limits/keep.ts";
import type { Group } from "../../../core/policy/tool-access.ts";
import { listToolsOf } from "../../../core/policy/tool-access.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatTools } from "../../config/format-groups.ts";
import { timeInTable } from "../../terminal/short-time.ts";
import { layOutTable, type Cell, type Column, type TableView } from "../../terminal/table.ts";

const BRAKE_COLUMNS: readonly Column[] = [
  { head: "brake of", align: "left", long: "cut" },
  { head: "allows", align: "left" },
  { head: "waits below", align: "left" },
  { head: "now", align: "left" },
];

const GROUP_COLUMNS: readonly Column[] = [
  { head: "group", align: "left", long: "cut" },
  { head: "models", align: "left" },
  { head: "key", align: "left", long: "cut" },
  { head: "brake", align: "left" },
  { head: "tools", align: "left" },
];

/**
 * Formats brakes as a table: what each allows, which share of the service's limits it leaves, and whom it holds now. `now` in ms since 1970.
 * @param holds the brakes that refuse requests at this moment
 */
export function formatBrakes(
  brakes: readonly (BrakeTerms & { kind: string; name: string })[],
  holds: readonly LimitHold[],
  now: number,
  view: TableView,
): string {
  const rows = brakes.map(({ kind, name, ...terms }): Cell[] => {
    const held = holds.filter((hold) => hold.kind === kind && hold.name === name);
    const until = held.map(({ resetsAt }) => Date.parse(resetsAt)).toSorted((one, other) => other - one)[0];
    return [
      kind === "tool" ? name : `${kind} ${name}`,
      describeTerms({ ...terms, keep: null }),
      terms.keep === null ? "" : `${terms.keep}% of any limit left`,
      until === undefined ? "" : { text: `waits until ${timeInTable(until, now)}`, tone: "warning" },
    ];
  });
  return formatUsed(BRAKE_COLUMNS, rows, view);
}

/** Formats groups as a table: their models, key, brake and tools. */
export function formatGroups(config: Config, groups: readonly Group[], view: TableView): string {
  const rows = groups.map(({ name, models, key, brake }) => [
    name,
    models === null ? "all" : toPrintable(models.join(" ")),
    key ?? "",
    brake === null ? "" : describeTerms(brake),
    formatTools(listToolsOf(config, name)),
  ]);
  return formatUsed(GROUP_COLUMNS, rows, view);
}

/** Leaves out columns in which no row has anything. */
function formatUsed(columns: readonly Column[], rows: readonly (readonly Cell[])[], view: TableView): string {
  const used = columns.flatMap((column, at) => (rows.some((row) => row[at] !== "") ? [{ column, at }] : []));
  const { text } = layOutTable(
    used.map(({ column }) => column),
    rows.map((row) => used.map(({ at }) => row[at] ?? "")),
    view,
  );
  return text;
}
