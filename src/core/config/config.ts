import { configSchema } from "./schema.ts";
import type { OutputOf } from "./shape.ts";
import type { KeyRef } from "../secrets/key-source.ts";

/**
 * The configuration, resolved: defaults filled in, addresses taken apart, paths absolute. Times are in
 * milliseconds, sizes in bytes; what each key means stands with it in config-schema.ts. Without upstreams the
 * built-in sandbox serves. Look tools up with {@link upstreamOf}: their names come from strangers.
 */
export type Config = OutputOf<typeof configSchema>;

/** An upstream: its name, its address (`baseUrl` without trailing slash, `origin`, `basePath`), its key. */
export type Upstream = Config["upstreams"][string];

/** Who is served: `mode`, and the uids of other users that are let in (`peerUid`). */
export type Access = Config["access"];

/** A route that the configuration adds to an upstream; `path` is below `/v1`, one segment may be `{id}`. */
export type ExtraRoute = Upstream["routes"][number];

/** How a route's credential is carried: `Authorization: Bearer`, or `x-api-key`. */
export type Auth = ExtraRoute["auth"];

/** Whose shape of usage a route's answers carry; `none` when they carry none. */
export type Dialect = ExtraRoute["dialect"];

/** What holds where nothing is configured. */
export const defaultConfig: Config = resolved({});

/** An upstream of which only name and base URL are given; the defaults hold for the rest. */
export function plainUpstream(name: string, baseUrl: string): Upstream {
  const [upstream] = Object.values(resolved({ upstreams: { [name]: { baseUrl } } }).upstreams);
  if (upstream === undefined) throw new Error("an upstream was lost");
  return upstream;
}

/** A configuration of our own making, which is good. */
function resolved(file: object): Config {
  const reading = configSchema.read(file, []);
  if ("faults" in reading) throw new Error("a configuration of our own is not good");
  return reading.value;
}

/** The upstream that serves a tool; null when none is configured. */
export function upstreamOf(config: Config, tool: string): Upstream | null {
  const name = Object.hasOwn(config.tools, tool) ? config.tools[tool]?.upstream : undefined;
  return config.upstreams[name ?? "default"] ?? null;
}

/** Names an upstream's key; `keyName` null means the one that the upstream itself names. */
export function keyRefOf(upstream: Upstream, keyName: string | null): KeyRef {
  return { origin: upstream.origin, name: keyName ?? upstream.key, source: upstream.keySource };
}

/** A key that the configuration names. */
export interface ConfiguredKey {
  /** The first upstream that uses the key. */
  upstream: Upstream;
  ref: KeyRef;
  /** The configured tools that use it. Tools that the configuration does not name use the default upstream's. */
  usedBy: string[];
}

/** Every key that the configuration names, once each. Upstreams of one origin share a key of the same name. */
export function keyRefsOf(config: Config): ConfiguredKey[] {
  const keys = new Map<string, ConfiguredKey>();
  const add = (upstream: Upstream, keyName: string | null, usedBy: string[]) => {
    const ref = keyRefOf(upstream, keyName);
    const identity = JSON.stringify(ref);
    const known = keys.get(identity);
    if (known === undefined) keys.set(identity, { upstream, ref, usedBy });
    else known.usedBy.push(...usedBy);
  };
  for (const upstream of Object.values(config.upstreams)) add(upstream, null, []);
  for (const [name, tool] of Object.entries(config.tools)) {
    const upstream = upstreamOf(config, name);
    if (upstream !== null) add(upstream, tool.key, [name]);
  }
  return [...keys.values()];
}
