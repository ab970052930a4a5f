import type { AdmissionRules } from "../core/http/admission.ts";
import { keyRefOf, upstreamOf, type Config, type Upstream } from "../core/config/config.ts";
import type { KeyRef } from "../core/secrets/key-source.ts";
import { buildRouteTable, routesOf, type RouteTable } from "../core/http/routes.ts";
import type { RoundTripLimits } from "./exchange/round-trip.ts";

/** One upstream as requests need it: everything that can be worked out before they come. */
export interface UpstreamSettings {
  upstream: Upstream;
  /** For the `Host` header. */
  host: string;
  /** For tools without one of their own. */
  key: KeyRef;
  routes: RouteTable;
}

/** A configuration made ready for requests. Never changed: a reload makes a new one, running requests keep theirs. */
export interface Settings {
  config: Config;
  rules: AdmissionRules;
  limits: RoundTripLimits;
  upstreamFor(tool: string): UpstreamSettings;
  /** The tool's own key when the configuration names one, else its upstream's; the same object each time. */
  keyFor(tool: string): KeyRef;
}

/** Prepares a configuration that has at least a default upstream. */
export function prepareSettings(config: Config): Settings {
  const prepared = new Map<Upstream, UpstreamSettings>();
  const ownKeys = new Map<string, KeyRef>();
  for (const upstream of Object.values(config.upstreams)) {
    const routes = buildRouteTable(routesOf(upstream));
    const key = keyRefOf(upstream, null);
    prepared.set(upstream, { upstream, host: new URL(upstream.origin).host, key, routes });
  }
  for (const [name, tool] of Object.entries(config.tools)) {
    const upstream = upstreamOf(config, name);
    if (upstream !== null) ownKeys.set(name, keyRefOf(upstream, tool.key));
  }

  function upstreamFor(tool: string): UpstreamSettings {
    const upstream = upstreamOf(config, tool);
    const settings = upstream === null ? undefined : prepared.get(upstream);
    if (settings === undefined) throw new Error("a configuration without upstreams was put to work");
    return settings;
  }

  return {
    config,
    rules: config.listen,
    limits: { ...config.limits, graceMs: config.abort.graceMs },
    upstreamFor,
    keyFor: (tool) => ownKeys.get(tool) ?? upstreamFor(tool).key,
  };
}
