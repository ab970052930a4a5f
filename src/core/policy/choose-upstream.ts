import type { Config, Upstream } from "../config/config.ts";

/** Returns the upstream that serves a tool, which may be any name a client chose; null when no upstream is configured. */
export function chooseUpstream(config: Config, tool: string): Upstream | null {
  const name = Object.hasOwn(config.tools, tool) ? config.tools[tool]?.upstream : undefined;
  return config.upstreams[name ?? "default"] ?? null;
}
