import { printAssignment } from "../../connect/formats/shell.ts";
import { Failure } from "../../core/failure.ts";
import type { Shell } from "../../core/text/shell-words.ts";
import { bypassVariables } from "../../tools/recipe/loopback-bypass.ts";
import { findForeignShell } from "../../tools/recipe/variables.ts";
import type { ConnectableTool, Environment } from "../../tools/tool.ts";
import { placeholderEndpoint, readToolHost, resolveEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import type { SelectedTool } from "./select-tool.ts";

/** Checks, without slow calls, that a tool follows its environment or flags. @throws Failure when it follows neither */
export function requireEnvironment({ tool, name }: SelectedTool): void {
  if (tool.environment(readToolHost(), placeholderEndpoint(name)) === null) throw noEnvironment(tool);
}

/**
 * Returns the variables and flags that point a tool at tollkeeper, and have it reach this machine without a proxy.
 * @param token null for a placeholder credential
 * @param model the requested one; undefined lets the daemon's list decide
 * @throws Failure when the tool follows neither, or needs a model and none is known
 */
export async function resolveEnvironment(
  selected: SelectedTool,
  daemon: LocalDaemon,
  token: string | null,
  model: string | undefined,
): Promise<Environment> {
  const { tool } = selected;
  const endpoint = await resolveEndpoint(selected, daemon, token, model);
  const environment = tool.environment(readToolHost(), endpoint);
  if (environment === null) throw noEnvironment(tool);
  return { ...environment, variables: { ...environment.variables, ...bypassVariables(process.env) } };
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

/** Returns lines for the shell to evaluate: they export the variables, and unset the removed ones. */
export function formatEnvironment(
  shell: Shell,
  variables: Readonly<Record<string, string>>,
  removed: readonly string[],
): string[] {
  const unset = shell === "fish" ? "set -e" : "unset";
  return [
    ...removed.map((name) => `${unset} ${name}`),
    ...Object.entries(variables).map(([name, value]) => printAssignment(shell, name, value)),
  ];
}
