import { currentHost } from "../../adapters/paths.ts";
import type { LocatedConflict } from "../../connect/conflicts.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { Conflict } from "../../tools/conflict.ts";
import type { ConnectableTool, Scope } from "../../tools/tool.ts";
import { displayPath } from "../terminal/format.ts";

/** A conflict in words. Never contains the setting's value. */
export interface DescribedConflict {
  /** Where it is: `~/.codex/config.toml:4 (model_provider)`. */
  where: string;
  /** What it does, as the rest of a sentence that begins with its location. */
  what: string;
  /** What resolves it. */
  fix: string;
}

/** Describes a conflict with the connection of a tool. */
export function describeConflict(
  conflict: LocatedConflict,
  tool: ConnectableTool,
  scope: Scope,
): DescribedConflict {
  const { effect, reason } = conflict;
  return {
    where: locate(conflict),
    what: `${EFFECTS[effect]}: ${reason}`,
    fix: fixFor(conflict, tool, scope),
  };
}

/** Returns what the sentence "TOOL is connected" continues with; empty when all of the tool's requests come here. */
export function describeException(
  conflicts: readonly LocatedConflict[],
  tool: ConnectableTool,
  scope: Scope,
): string {
  const places = conflicts
    .filter(({ effect }) => effect === "elsewhere")
    .map((conflict) => describeConflict(conflict, tool, scope).where);
  if (places.length === 0) return "";
  return `, but ${places.join(" and ")} ${places.length === 1 ? "sends" : "send"} requests elsewhere`;
}

const EFFECTS = {
  elsewhere: "sends requests elsewhere",
  credential: "brings another credential along",
};

function locate(conflict: LocatedConflict): string {
  const { source, path, line } = conflict;
  if (source.kind === "environment") return `the environment (${variableOf(conflict)})`;
  const file = displayPath(source.path, currentHost().home);
  return `${line === null ? file : `${file}:${line}`} (${path.join(".")})`;
}

function variableOf({ source, path }: Conflict): string {
  return (source.kind === "environment" ? source.variable : null) ?? String(path.at(-1));
}

function fixFor(conflict: LocatedConflict, tool: ConnectableTool, scope: Scope): string {
  const { source, target, advice, isResolvedByProject } = conflict;
  if (target !== null) return connectCommand(tool, scope);
  if (advice !== undefined) return advice;
  if (source.kind === "environment")
    return `unset ${variableOf(conflict)}, and take it out of where it is set`;
  if (source.kind === "managed") return "ask the administrator of this machine to take it out";
  return isResolvedByProject
    ? `take it out, or override it in this project: ${connectCommand(tool, "project")}`
    : "take it out";
}

function connectCommand({ name }: ConnectableTool, scope: Scope): string {
  return formatCommand(["tollkeeper", "connect", name, ...(scope === "user" ? [] : ["--scope", scope])]);
}
