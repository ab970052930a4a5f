import { isLoopbackHost } from "../core/config/base-url.ts";
import { type Config, type Upstream } from "../core/config/config.ts";
import { resolveKeyRef, upstreamForTool } from "../core/policy/upstreams.ts";
import type { AdmissionRules } from "../core/http/admission.ts";
import { buildRouteTable, listRoutes, type RouteTable } from "../core/http/routes.ts";
import type { KeyRef } from "../core/secrets/key-source.ts";
import type { RoundTripLimits } from "./exchange/limits.ts";

/** An upstream as the configuration describes it, with everything that can be computed before a request arrives. */
interface UpstreamSettings extends Upstream {
  /** For the `Host` header. */
  host: string;
  /** True for an address of this machine, and for a host name by which clients reach us: it could be ours. */
  isLocal: boolean;
  table: RouteTable;
}

/** The upstream that serves a request, and the key that it needs there. */
export interface Destination {
  upstream: UpstreamSettings;
  key: KeyRef;
}

/** A configuration prepared for requests. Immutable: a reload makes a new one, and running requests keep theirs. */
export interface Settings {
  config: Config;
  rules: AdmissionRules;
  limits: RoundTripLimits;
  /** The routes of all upstreams. No other path is forwarded. */
  table: RouteTable;
  /** For tools that the configuration does not name. */
  defaultDestination: Destination;
  /** The same object for the same tool each time. */
  destinationFor(tool: string): Destination;
  /** True when the choice of upstream depends on the model, so that the body must be peeked at. No setting needs it yet. */
  needsModel: boolean;
}

/** Prepares a configuration. Throws when it has no default upstream. */
export function prepareSettings(config: Config): Settings {
  const prepared = new Map<Upstream, UpstreamSettings>();
  for (const upstream of Object.values(config.upstreams)) {
    const { host, hostname } = new URL(upstream.origin);
    const isLocal = isLoopbackHost(hostname) || config.listen.allowedHosts.includes(host);
    prepared.set(upstream, { ...upstream, host, isLocal, table: buildRouteTable(listRoutes(upstream)) });
  }

  function destinationOf(tool: string, keyName: string | null): Destination {
    const upstream = upstreamForTool(config, tool);
    const settings = upstream === null ? undefined : prepared.get(upstream);
    if (settings === undefined) throw new Error("the configuration has no upstream for this tool");
    return { upstream: settings, key: resolveKeyRef(settings, keyName) };
  }

  const defaultDestination = destinationOf("", null);
  const named = Object.entries(config.tools).map(
    ([name, tool]) => [name, destinationOf(name, tool.key)] as const,
  );
  const destinations = new Map(named);
  return {
    config,
    rules: config.listen,
    limits: { ...config.limits, graceMs: config.abort.graceMs },
    table: joinTables([...prepared.values()]),
    defaultDestination,
    destinationFor: (tool) => destinations.get(tool) ?? defaultDestination,
    needsModel: false,
  };
}

/** With one upstream this is its own table, so that a request looks its route up once. */
function joinTables(upstreams: readonly UpstreamSettings[]): RouteTable {
  const [first, ...others] = upstreams;
  if (first !== undefined && others.length === 0) return first.table;
  const routes = upstreams
    .flatMap(listRoutes)
    .map((route) => [`${route.method} ${route.path}`, route] as const);
  return buildRouteTable([...new Map(routes).values()]);
}
