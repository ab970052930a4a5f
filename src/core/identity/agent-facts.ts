/** What an agent's request is for. `auxiliary`: a small task such as a summary, which a tool does not name further. */
export const AGENT_KINDS = [
  ...([
    "main",
    "subagent",
    "teammate",
    "fork",
    "workflow",
    "compaction",
    "title",
    "review",
    "memory",
  ] as const),
  ...(["auxiliary", "background", "warmup"] as const),
] as const;
export type AgentKind = (typeof AGENT_KINDS)[number];

/** Which agent of a session asked. All that a tool does not say is null. The main agent of a session has no id. */
export interface AgentFacts {
  agent: string | null;
  /** The agent that started it; null where the main agent did. */
  agent_parent: string | null;
  agent_kind: AgentKind | null;
  /** What a person asked for, with all that followed from it. */
  turn: string | null;
}
