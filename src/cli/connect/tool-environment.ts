import { Failure } from "../../core/failure.ts";
import type { ConnectableTool, Environment } from "../../tools/tool.ts";
import { placeholderEndpoint, readToolHost, resolveEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import type { SelectedTool } from "./select-tool.ts";

/** Checks, before anything slow, that a tool follows its environment or flags. @throws Failure when it follows neither */
export function requireEnvironment({ tool, name }: SelectedTool): void {
  if (tool.environment(readToolHost(), placeholderEndpoint(name)) === null) throw noEnvironment(tool);
}

/**
 * Returns the variables and flags that point a tool at tollkeeper.
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
  return environment;
}

function noEnvironment({ title, name, scopes }: ConnectableTool): Failure {
  const hint =
    scopes.length === 0
      ? `see what to do there by hand: tollkeeper connect ${name} --print`
      : `connect it instead: tollkeeper connect ${name}`;
  return new Failure(`${title} listens neither to its environment nor to flags`, hint);
}
