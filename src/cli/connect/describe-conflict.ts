import { currentHost } from "../../adapters/paths.ts";
import type { ConnectionId } from "../../connect/connection.ts";
import type { LocatedConflict } from "../../connect/conflicts.ts";
import { findWorkingDirectory } from "../../adapters/program.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { Conflict } from "../../tools/conflict.ts";
import { displayPath } from "../terminal/format.ts";

/** A conflict in words. Never contains a URL or a credential. */
export interface DescribedConflict {
  /** Where it is: `~/.codex/config.toml:4 (model_provider)`. */
  where: string;
  /** What it does, as the rest of a sentence that begins with its location. */
  what: string;
  /** What resolves it. */
  fix: string;
}

/** Describes a conflict with the connection of a tool. */
export function describeConflict(conflict: LocatedConflict, id: ConnectionId): DescribedConflict {
  const { effect, reason } = conflict;
  return {
    where: locate(conflict),
    what: `${EFFECTS[effect]}: ${reason}`,
    fix: fixFor(conflict, id),
  };
}

/** Returns what the sentence "TOOL is connected" continues with; empty when all of the tool's requests come here. */
export function describeException(conflicts: readonly LocatedConflict[], id: ConnectionId): string {
  const places = conflicts
    .filter(({ effect }) => effect === "elsewhere")
    .map((conflict) => describeConflict(conflict, id).where);
  if (places.length === 0) return "";
  return `, but ${places.join(" and ")} ${places.length === 1 ? "sends" : "send"} requests elsewhere`;
}

const EFFECTS = {
  elsewhere: "sends requests elsewhere",
  credential: "sends another credential as well",
  login: "takes the place of the plan's login",
  statusline: "hides tollkeeper's status line",
};

function locate(conflict: LocatedConflict): string {
  const { source, path, line } = conflict;
  if (source.kind === "environment") return `the environment (${variableOf(conflict)})`;
  const file = displayPath(source.path, currentHost().home);
  return `${line === null ? file : `${file}:${line}`} (${path.join(".")})`;
}

/** Returns the name of the variable that a conflict in the environment is about. */
export function variableOf({ source, path }: Conflict): string {
  return (source.kind === "environment" ? source.variable : null) ?? String(path.at(-1));
}

function fixFor(conflict: LocatedConflict, id: ConnectionId): string {
  const { source, target, advice, isResolvedByProject } = conflict;
  if (target !== null) return connectCommand(id);
  if (advice !== undefined) return advice;
  if (source.kind === "environment")
    return `unset ${variableOf(conflict)}, and remove it from where it is set${conflict.effect === "login" ? "; then the plan pays" : ""}`;
  if (source.kind === "managed") return "ask the administrator of this machine to remove it";
  return isResolvedByProject
    ? `remove it, or override it in this project: ${connectCommand({ ...id, scope: "project", directory: null })}`
    : "remove it";
}

/** Returns the command that connects a tool once more; in another directory, after changing to that. */
export function connectCommand({ tool, scope, directory }: ConnectionId): string {
  const option = scope === "user" ? [] : ["--scope", scope];
  const command = formatCommand(["tollkeeper", "connect", tool, ...option]);
  if (directory === null || directory === findWorkingDirectory()) return command;
  return `${formatCommand(["cd", directory])} && ${command}`;
}
