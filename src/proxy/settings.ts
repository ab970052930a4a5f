import type { AdmissionRules } from "../core/admission.ts";
import { upstreamOf, type Config, type Upstream } from "../core/config.ts";
import { buildRouteTable, routesOf, type RouteTable } from "../core/routes.ts";

/** One upstream as requests need it: everything that can be worked out before they come. */
export interface UpstreamSettings {
  upstream: Upstream;
  /** For the `Host` header. */
  host: string;
  routes: RouteTable;
}

/** A configuration made ready for requests. Never changed: a reload makes a new one, running requests keep theirs. */
export interface Settings {
  config: Config;
  rules: AdmissionRules;
  upstreamFor(tool: string): UpstreamSettings;
  /** Key name that the configuration gives a tool; null for the upstream's own. */
  keyNameFor(tool: string): string | null;
}

/** Prepares a configuration that has at least a default upstream. */
export function prepareSettings(config: Config): Settings {
  const prepared = new Map<Upstream, UpstreamSettings>();
  for (const upstream of Object.values(config.upstreams)) {
    const routes = buildRouteTable(routesOf(upstream));
    prepared.set(upstream, { upstream, host: new URL(upstream.origin).host, routes });
  }
  return {
    config,
    rules: config.listen,
    upstreamFor(tool) {
      const upstream = upstreamOf(config, tool);
      const settings = upstream === null ? undefined : prepared.get(upstream);
      if (settings === undefined) throw new Error("a configuration without upstreams was put to work");
      return settings;
    },
    keyNameFor: (tool) => (Object.hasOwn(config.tools, tool) ? (config.tools[tool]?.key ?? null) : null),
  };
}
