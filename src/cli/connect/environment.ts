import { printAssignment } from "../../connect/formats/shell.ts";
import { Failure } from "../../core/failure.ts";
import type { Shell } from "../../core/text/shell-words.ts";
import { bypassVariables } from "../../tools/recipe/loopback-bypass.ts";
import { findForeignShell } from "../../tools/recipe/variables.ts";
import type { Account, ConnectableTool, Environment, LocalEndpoint } from "../../tools/tool.ts";
import { findConflicts } from "../../connect/conflicts.ts";
import { findConflictingVariables } from "../../tools/recipe/conflicting-variables.ts";
import { describeConflict } from "./describe-conflict.ts";
import { placeholderEndpoint, readToolHost, resolveEndpoint, toPlanEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import type { SelectedTool } from "./select-tool.ts";
import { requireStoredKey } from "../keys/require-stored-key.ts";

/** Checks, without slow calls, that a tool follows its environment or flags. @throws Failure when it follows neither */
export function requireEnvironment({ tool, name }: SelectedTool): void {
  if (tool.environment(readToolHost(), placeholderEndpoint(name)) === null) throw noEnvironment(tool);
}

/** What points a tool at tollkeeper for one process, and has it reach this machine without a proxy. */
interface ResolvedEnvironment extends Environment {
  /** Variables of the present environment that would override these, or send another credential. */
  removed: readonly string[];
  /** Settings that take the place of the plan's login, as sentences. The environment cannot override them. */
  warnings: readonly string[];
}

/**
 * Returns the environment that points a tool at tollkeeper.
 * @param token null for a placeholder credential
 * @param model the requested one; undefined lets the daemon's list decide
 * @throws Failure when the tool follows neither, or needs a model and none is known
 */
export async function resolveEnvironment(
  selected: SelectedTool,
  daemon: LocalDaemon,
  token: string | null,
  model: string | undefined,
  account: Account,
): Promise<ResolvedEnvironment> {
  const { tool } = selected;
  if (account === "key") requireStoredKey(tool, selected.name, daemon);
  const resolved = await resolveEndpoint(selected, daemon, token, model);
  const endpoint = account === "plan" ? toPlanEndpoint(resolved) : resolved;
  const environment = tool.environment(readToolHost(), endpoint);
  if (environment === null) throw noEnvironment(tool);
  const variables = { ...environment.variables, ...bypassVariables(process.env) };
  const conflicts = findConflictingVariables(process.env, variables);
  const { inEnvironment, warnings } = findLoginConflicts(tool, endpoint);
  return { ...environment, variables, removed: [...new Set([...conflicts, ...inEnvironment])], warnings };
}

/** Finds what takes the place of a plan's login: variables, and settings in files. None where a key pays. */
function findLoginConflicts(tool: ConnectableTool, endpoint: LocalEndpoint) {
  if (endpoint.account === "key") return { inEnvironment: [], warnings: [] };
  const host = readToolHost();
  const id = { tool: tool.name, scope: "user", directory: null } as const;
  const conflicts = findConflicts(
    tool,
    host,
    endpoint,
    id.scope,
    tool.plan(host, endpoint, id.scope),
    [],
  ).filter(({ effect }) => effect === "login");
  const isInEnvironment = ({ source }: (typeof conflicts)[number]) => source.kind === "environment";
  const described = conflicts.filter((one) => !isInEnvironment(one)).map((one) => describeConflict(one, id));
  return {
    inEnvironment: conflicts.filter(isInEnvironment).map(({ path }) => String(path.at(-1))),
    warnings: described.map(({ where, what, fix }) => `warning: ${where} ${what}; ${fix}`),
  };
}

function noEnvironment({ title, name, scopes }: ConnectableTool): Failure {
  const hint =
    scopes.length === 0
      ? `to see what to enter by hand, type: tollkeeper connect ${name} --print`
      : `connect it instead: tollkeeper connect ${name}`;
  return new Failure(`${title} reads neither environment variables nor flags for this`, hint);
}

export const SHELLS = ["sh", "fish"] as const satisfies readonly Shell[];

/** Returns the user's shell, from `$SHELL`; null for one that can evaluate neither form. An unknown one counts as a POSIX shell. */
export function detectShell(env: NodeJS.ProcessEnv): Shell | null {
  if (findForeignShell(env) !== null) return null;
  return /(?:^|\/)fish$/.test(env["SHELL"] ?? "") ? "fish" : "sh";
}

/** Returns the command that removes a variable from the shell. */
export function unsetCommand(shell: Shell, name: string): string {
  return `${shell === "fish" ? "set -e" : "unset"} ${name}`;
}

/** Returns lines for the shell to evaluate: they export the variables, and unset the removed ones. */
export function formatEnvironment(
  shell: Shell,
  variables: Readonly<Record<string, string>>,
  removed: readonly string[],
): string[] {
  return [
    ...removed.map((name) => unsetCommand(shell, name)),
    ...Object.entries(variables).map(([name, value]) => printAssignment(shell, name, value)),
  ];
}
