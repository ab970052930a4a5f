import { element } from "../elements.ts";
import type { PricedRecord, Row } from "../feed-types.ts";
import { narrowSumColumns } from "../sum-columns.ts";
import { sortableTable, type TableColumn } from "../table.ts";
import { agentOf, placeAgents } from "./agent-tree.ts";

const MAIN = "main";

function nameOf(row: Row): string {
  return agentOf(row) ?? MAIN;
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
      exact: nameOf,
      contents(row) {
        const indent = element("span", { class: "indent" });
        indent.style.width = `${depths.get(row) ?? 0}rem`;
        return [indent, nameOf(row)];
      },
      isWords: true,
    },
    {
      head: "kind",
      value: (row) => (typeof row["agent_kind"] === "string" ? row["agent_kind"] : ""),
      isWords: true,
    },
    // All of them, as the list of requests has them.
    ...narrowSumColumns(agents).map((column) =>
      column.head === "requests" ? { ...column, value: (row: Row) => row.requests + row.failed } : column,
    ),
  ];
  return sortableTable("By agent", columns, agents, { class: "two-lines agents", sort: "agent,rising" });
}
