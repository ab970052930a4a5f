import type { PricedRecord, Row } from "../feed-types.ts";

/** A row of an agent's sums, with its place in the tree of agents. */
interface PlacedRow {
  row: Row;
  /** 0 for the main agent, 1 for the agents that it started. */
  depth: number;
}

/**
 * Returns the rows of a session's agents, each beneath the agent that started it, the dearest first among those of one agent. The main
 * agent comes first, with all that has no agent's name. An agent whose parent has no row is beneath the main agent.
 * @param records - requests of the session, which say who started an agent
 */
export function placeAgents(rows: readonly Row[], records: readonly PricedRecord[]): PlacedRow[] {
  const parents = new Map(
    records.flatMap(({ agent, agent_parent: parent }) => (agent === null ? [] : [[agent, parent]])),
  );
  const names = new Set(rows.map(agentOf));
  const inOrder = rows.toSorted((one, other) => Number(other.cost_usd) - Number(one.cost_usd));
  const placed: PlacedRow[] = [];
  const place = (agent: string | null, depth: number) => {
    for (const row of inOrder) if (agentOf(row) === agent) placed.push({ row, depth });
    for (const name of new Set(inOrder.map(agentOf))) {
      if (name === null || placed.some(({ row }) => agentOf(row) === name)) continue;
      const parent = parents.get(name) ?? null;
      if ((parent !== null && names.has(parent) && parent !== name ? parent : null) === agent)
        place(name, depth + 1);
    }
  };
  place(null, 0);
  // Agents that started each other, as only a broken ledger has them.
  for (const row of inOrder) if (!placed.some((one) => one.row === row)) placed.push({ row, depth: 1 });
  return placed;
}

/** The agent of a row; null for the main one. */
export function agentOf(row: Row): string | null {
  return typeof row["agent"] === "string" ? row["agent"] : null;
}
