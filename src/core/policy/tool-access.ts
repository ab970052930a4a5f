import type { Config, Upstream } from "../config/config.ts";
import { OTHERS } from "../config/names.ts";

/** What the tools of a group may do, and the key that they use. */
export type Group = Config["groups"][string];

/** Returns the group that a tool names, or else the one of all other tools; null for a tool without a group. Clients choose their tool names. */
export function groupOfTool(
  { tools, groups, otherTools }: Pick<Config, "tools" | "groups" | "otherTools">,
  tool: string,
): Group | null {
  const own = Object.hasOwn(tools, tool) ? tools[tool]?.group : null;
  const name = own ?? otherTools.group;
  return name !== null && Object.hasOwn(groups, name) ? (groups[name] ?? null) : null;
}

/** Lists the configured tools of a group, and `"*"` if every tool without a group of its own belongs to it. */
export function listToolsOf(config: Config, group: string): string[] {
  const named = Object.keys(config.tools).filter((tool) => groupOfTool(config, tool)?.name === group);
  return config.otherTools.group === group ? [...named, OTHERS] : named;
}

/** Returns the upstreams that a tool may use, in the order of the file. Clients choose their tool names. */
export function upstreamsForTool({ upstreams, tools }: Config, tool: string): Upstream[] {
  const allowed = Object.hasOwn(tools, tool) ? tools[tool]?.upstreams : null;
  return Object.values(upstreams).filter(({ name }) => allowed?.includes(name) ?? true);
}

/** Returns the names of those of them that pass the key that the tool sends. */
export function passingUpstreams(config: Config, tool: string): string[] {
  return upstreamsForTool(config, tool)
    .filter(({ credential }) => credential === "client")
    .map(({ name }) => name);
}

/** Returns the name of a tool's own key, or else of its group's; null where it uses those of the upstreams. */
export function keyNameOfTool(config: Config, tool: string): string | null {
  const own = Object.hasOwn(config.tools, tool) ? config.tools[tool]?.key : null;
  return own ?? groupOfTool(config, tool)?.key ?? null;
}
