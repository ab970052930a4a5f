import { existsSync } from "node:fs";
import { currentHost } from "../../adapters/paths.ts";
import type { LocalEndpoint, ToolHost } from "../../tools/tool.ts";
import { chooseModel } from "./choose-model.ts";
import { placeholderCredential, toolBaseUrl, type LocalDaemon } from "./locate-daemon.ts";
import type { SelectedTool } from "./select-tool.ts";

/**
 * Returns the base URL, credential and model for a tool.
 * @param token null for a placeholder credential
 * @param model the requested one; undefined lets the daemon's list decide
 * @throws Failure when the tool needs a model and none is known
 */
export async function resolveEndpoint(
  selected: SelectedTool,
  daemon: LocalDaemon,
  token: string | null,
  model: string | undefined,
): Promise<LocalEndpoint> {
  const { name } = selected;
  return {
    baseUrl: toolBaseUrl(daemon.port, name),
    credential: token ?? placeholderCredential(name),
    isToken: token !== null,
    model: await chooseModel(selected, model, daemon),
  };
}

/** Returns an endpoint for questions whose answer does not depend on it: where a tool keeps its settings, for example. */
export function placeholderEndpoint(name: string): LocalEndpoint {
  return {
    baseUrl: toolBaseUrl(0, name),
    credential: placeholderCredential(name),
    isToken: false,
    model: "any",
  };
}

/** Returns what decides where tools keep their settings on this machine. */
export function readToolHost(): ToolHost {
  return { ...currentHost(), directory: process.cwd(), exists: existsSync };
}
