import type { Config } from "../config/config.ts";

/** The model that is requested from the upstream, by the one that the tool names. */
export type Aliases = ReadonlyMap<string, string>;

/** Returns a tool's aliases, its own before those of all; null when it has none. */
export function aliasesOfTool({ aliases, tools }: Config, tool: string): Aliases | null {
  const own = Object.hasOwn(tools, tool) ? tools[tool]?.aliases : undefined;
  const entries = [...Object.entries(aliases), ...Object.entries(own ?? {})];
  return entries.length === 0 ? null : new Map(entries);
}
