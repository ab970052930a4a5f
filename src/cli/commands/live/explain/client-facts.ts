import { homeDirectory } from "../../../../adapters/paths.ts";
import type { UsageRecord } from "../../../../core/ledger/record.ts";
import { EVIDENCE } from "../../../../core/ledger/explain/record-words.ts";
import type { Fact } from "../../../terminal/facts.ts";
import { displayPath } from "../../../terminal/format.ts";

/** Says who asked, and how the tool was recognized. */
export function clientFacts(record: UsageRecord): Fact[] {
  const { tool, tool_by: by, user_agent: agent, process: client, session, project, branch } = record;
  const facts: (Fact | false)[] = [
    [
      "who",
      by === "unknown" ? "an unknown tool: nothing identified it" : `${tool}, recognized by ${EVIDENCE[by]}`,
    ],
    client !== null && ["process", describeProcess(client)],
    agent !== null && ["client", agent],
    session !== null && ["session", `${session}${describeAgent(record)}`],
    project !== null && ["project", describeProject(project, branch)],
  ];
  return facts.filter((fact) => fact !== false);
}

function describeProcess({ pid, executable, parents }: NonNullable<UsageRecord["process"]>): string {
  const path = displayPath(executable, homeDirectory());
  // Shells that start shells say nothing more.
  const starters = parents.filter((name, at) => name !== parents[at - 1]);
  const started = starters.length === 0 ? "" : `, started by ${starters.join(" < ")}`;
  return `${path} (process ${pid})${started}`;
}

function describeAgent({ agent, agent_parent: parent, agent_kind: kind }: UsageRecord): string {
  if (agent === null) return kind === null ? "" : `, ${kind === "main" ? "the main agent" : `kind ${kind}`}`;
  const what = kind === null ? "" : ` (${kind})`;
  return `, agent ${agent}${what} of ${parent === null ? "the main agent" : `agent ${parent}`}`;
}

function describeProject(project: string, branch: string | null): string {
  const path = displayPath(project, homeDirectory());
  return branch === null ? path : `${path}, branch ${branch}`;
}
