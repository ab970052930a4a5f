import type { PriceSlots } from "../../price/spending.ts";
import { Tally } from "../tally.ts";

/** What an agent's requests of one kind used. */
export interface AgentRow {
  session: string | null;
  agent: string | null;
  /** The agent that started it; null for the main agent. */
  parent: string | null;
  kind: string | null;
  sums: Tally;
}

/** A line of the tree. The main agent has no id, and the depth 0. */
export interface AgentLine extends Omit<AgentRow, "session"> {
  depth: number;
}

/** An agent, with what it used in requests of each kind. */
interface Agent {
  parent: string | null;
  kinds: Map<string | null, Tally>;
}

/**
 * Puts the agents of a session in the order of a tree: each is followed by those that it started. A child session counts with its
 * parent's, and so does a child of that, whose records name only the child. An agent stands below the main one if its parent made no
 * request, or descends from itself, as only a made-up id can.
 *
 * @param rows those of all sessions
 */
export function buildAgentTree(session: string, rows: readonly AgentRow[], slots: PriceSlots): AgentLine[] {
  const agents = new Map<string | null, Agent>();
  for (const row of rowsOf(session, rows)) addRow(agents, row, session, slots);
  const children = new Map<string | null, string[]>();
  for (const [id, { parent }] of agents) {
    if (id === null) continue;
    const at = agents.has(parent) ? parent : null;
    const siblings = children.get(at);
    if (siblings === undefined) children.set(at, [id]);
    else siblings.push(id);
  }
  const lines: AgentLine[] = [];
  const left = new Set<string | null>([null, ...agents.keys()]);
  // What is left after the main agent descends from itself. A set leaves out what is deleted from it meanwhile.
  for (const start of left) {
    const open = [{ id: start, depth: start === null ? 0 : 1 }];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const { id, depth } = at;
      if (!left.delete(id)) continue;
      const agent = agents.get(id);
      for (const [kind, sums] of agent?.kinds ?? [])
        lines.push({ agent: id, parent: agent?.parent ?? null, kind, depth, sums });
      const below = children.get(id) ?? [];
      open.push(...below.toReversed().map((child) => ({ id: child, depth: depth + 1 })));
    }
  }
  return lines;
}

/** Returns the rows of a session, and of the child sessions in it. */
function rowsOf(session: string, rows: readonly AgentRow[]): AgentRow[] {
  const found: AgentRow[] = [];
  const bySession = new Map<string | null, AgentRow[]>();
  for (const row of rows) {
    const others = bySession.get(row.session);
    if (others === undefined) bySession.set(row.session, [row]);
    else others.push(row);
  }
  const sessions = new Set([session]);
  // A set also yields what is added to it meanwhile.
  for (const one of sessions) {
    for (const row of bySession.get(one) ?? []) {
      found.push(row);
      if (row.agent !== null) sessions.add(row.agent);
    }
  }
  return found;
}

/** In a child session, what has no agent is the child's own. */
function addRow(agents: Map<string | null, Agent>, row: AgentRow, root: string, slots: PriceSlots): void {
  const child = row.session === root ? null : row.session;
  const id = row.agent ?? child;
  let agent = agents.get(id);
  if (agent === undefined) agents.set(id, (agent = { parent: null, kinds: new Map() }));
  if (row.agent !== null) agent.parent ??= row.parent ?? child;
  let sums = agent.kinds.get(row.kind);
  if (sums === undefined) agent.kinds.set(row.kind, (sums = new Tally(slots)));
  sums.add(row.sums);
}
