import { element } from "../elements.ts";
import type { PricedRecord, Row } from "../feed-types.ts";
import { narrowSumColumns } from "../sum-columns.ts";
import { sortableTable, type TableColumn } from "../table.ts";
import { agentOf, placeAgents } from "./agent-tree.ts";

const MAIN = "main";
/** Characters of an agent's id that tell it from others. */
const ID_LENGTH = 8;

/** Names an agent: by its kind, and unless it is the main one, which of that kind: `subagent 6848d324`. */
export function nameAgent(agent: string | null, kind: string | null): string {
  if (kind === MAIN) return MAIN;
  return [kind ?? "", agent?.slice(0, ID_LENGTH) ?? ""].join(" ").trim();
}

function nameOf(row: Row): string {
  const kind = row["agent_kind"];
  return nameAgent(agentOf(row), typeof kind === "string" ? kind : null) || MAIN;
}

/** Who asked, where a session had several agents or kinds of request: a tree, until a reader sorts it. */
export function agentTable(agents: readonly Row[], records: readonly PricedRecord[]): HTMLElement {
  const placed = placeAgents(agents, records);
  const depths = new Map(placed.map(({ row, depth }) => [row, depth]));
  const places = new Map(placed.map(({ row }, at) => [row, at]));
  const columns: TableColumn<Row>[] = [
    {
      head: "agent",
      value: (row) => places.get(row) ?? 0,
      exact: (row) => agentOf(row) ?? MAIN,
      contents(row) {
        const indent = element("span", { class: "indent" });
        indent.style.width = `${depths.get(row) ?? 0}rem`;
        return [indent, nameOf(row)];
      },
      isWords: true,
      isPlaced: true,
    },
    ...narrowSumColumns(agents),
  ];
  return sortableTable("By agent", columns, agents, { class: "two-lines agents", sort: "agent,rising" });
}
