import { describeTerms } from "../../core/policy/brake.ts";
import type { Config } from "../../core/config/config.ts";
import { OTHERS } from "../../core/config/names.ts";
import { listToolsOf, type Group } from "../../core/policy/tool-access.ts";

/** Returns e.g. `codex, zed and all other tools`. */
function formatToolsOf(config: Config, group: string): string {
  return formatTools(listToolsOf(config, group));
}

/** Formats the names of tools, among them `"*"`. */
export function formatTools(tools: readonly string[]): string {
  const named = tools.filter((tool) => tool !== OTHERS).join(", ");
  if (!tools.includes(OTHERS)) return named === "" ? "no tool" : named;
  return named === "" ? "every tool that names no group" : `${named} and all other tools`;
}

/** Describes a group: its models, key, brake and tools. */
export function describeGroup(config: Config, { name, models, key, brake }: Group): string {
  const parts = [
    models === null ? "all models" : `only ${models.join(" ")}`,
    ...(key === null ? [] : [`key "${key}"`]),
    ...(brake === null ? [] : [`brake: ${describeTerms(brake)}`]),
    `for ${formatToolsOf(config, name)}`,
  ];
  return `group ${name}: ${parts.join(", ")}`;
}
