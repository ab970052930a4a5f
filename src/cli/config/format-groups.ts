import type { Config } from "../../core/config/config.ts";
import { OTHERS } from "../../core/config/names.ts";
import { listToolsOf } from "../../core/policy/groups.ts";

/** Returns e.g. `codex, zed and all other tools`. */
export function formatToolsOf(config: Config, group: string): string {
  return formatTools(listToolsOf(config, group));
}

/** Formats the names of tools, among them `"*"`. */
export function formatTools(tools: readonly string[]): string {
  const named = tools.filter((tool) => tool !== OTHERS).join(", ");
  if (!tools.includes(OTHERS)) return named === "" ? "no tool" : named;
  return named === "" ? "every tool that names no group" : `${named} and all other tools`;
}
