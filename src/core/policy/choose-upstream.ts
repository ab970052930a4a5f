import type { Config, Upstream } from "../config/config.ts";

/**
 * Returns the upstream that serves a tool: the one its configuration names, else "default"; null when no upstream is
 * configured. `tool` may be any string, because clients choose their own tool names.
 */
export function chooseUpstream(config: Config, tool: string): Upstream | null {
  const name = Object.hasOwn(config.tools, tool) ? config.tools[tool]?.upstream : undefined;
  return config.upstreams[name ?? "default"] ?? null;
}
