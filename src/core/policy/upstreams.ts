import type { Config, Upstream } from "../config/config.ts";
import { identifyKey, type KeyRef } from "../secrets/key-source.ts";

/** Returns the upstream that a tool's configuration names, or else "default"; null without one. Clients choose their tool names. */
export function upstreamForTool(config: Config, tool: string): Upstream | null {
  const name = Object.hasOwn(config.tools, tool) ? config.tools[tool]?.upstream : undefined;
  return config.upstreams[name ?? "default"] ?? null;
}

/** A key that the configuration names. */
export interface ConfiguredKey {
  /** The first upstream that uses the key. */
  upstream: Upstream;
  ref: KeyRef;
  /** The configured tools that use it. Tools without a configuration use the default upstream's key. */
  usedBy: string[];
}

/** Returns the reference to an upstream's key. `keyName` null selects the key that the upstream itself names. */
export function resolveKeyRef(upstream: Upstream, keyName: string | null): KeyRef {
  const name = keyName ?? upstream.key;
  const { origin, keySource: source } = upstream;
  return { origin, name, source, setArguments: writeSetArguments(upstream, name) };
}

/** Leaves out the defaults of `key set`: the upstream "default", and an upstream's own key. */
function writeSetArguments(upstream: Upstream, name: string): string {
  const key = name === upstream.key ? "" : ` ${name}`;
  return `key set${key}${upstream.name === "default" ? "" : ` --upstream ${upstream.name}`}`;
}

/** Lists every key that the configuration names, once each: upstreams of one origin share keys of the same name. An upstream without a key is listed with the source `none`. */
export function listConfiguredKeys(config: Config): ConfiguredKey[] {
  const keys = new Map<string, ConfiguredKey>();
  const add = (upstream: Upstream, keyName: string | null, usedBy: string[]) => {
    const ref = resolveKeyRef(upstream, keyName);
    const identity = identifyKey(ref);
    const known = keys.get(identity);
    if (known === undefined) keys.set(identity, { upstream, ref, usedBy });
    else known.usedBy.push(...usedBy);
  };
  for (const upstream of Object.values(config.upstreams)) add(upstream, null, []);
  for (const [name, tool] of Object.entries(config.tools)) {
    const upstream = upstreamForTool(config, name);
    if (upstream !== null) add(upstream, tool.key, [name]);
  }
  return [...keys.values()];
}
