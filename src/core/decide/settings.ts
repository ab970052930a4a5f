import { isLoopbackHost } from "../config/base-url.ts";
import { createUpstream, type Config, type Upstream } from "../config/config.ts";
import { buildPlanTable } from "../plans/plan-paths.ts";
import { recordedName } from "../plans/names.ts";
import { PLANS, type Plan } from "../plans/plans.ts";
import { OTHERS } from "../config/names.ts";
import { aliasesOfTool, type Aliases } from "../policy/aliases.ts";
import { preparePolicies, type PolicyLookup } from "../policy/tool-policy.ts";
import { keyNameOfTool, upstreamsForTool } from "../policy/tool-access.ts";
import { resolveKeyRef } from "../policy/configured-keys.ts";
import type { AdmissionRules } from "../http/admission.ts";
import { UpstreamQuery } from "../http/upstream-query.ts";
import { bedrockBasePath } from "../http/bedrock/model-path.ts";
import { googleBasePath } from "../http/gemini/google-path.ts";
import { listRoutes } from "../http/built-in-routes.ts";
import { buildRouteTable, type RouteTable } from "../http/routes.ts";
import type { KeyRef } from "../secrets/key-source.ts";

/** An upstream as the configuration describes it, with everything that can be computed before a request arrives. */
interface UpstreamSettings extends Upstream {
  /** How records name it. */
  recordedAs: string;
  /** For the `Host` header. */
  host: string;
  /** True for an address of this machine, and for a host name by which clients reach us: it could be ours. */
  isLocal: boolean;
  /** `basePath` for the paths of Google's API. */
  googleBasePath: string;
  /** The same for the paths of Amazon Bedrock. */
  bedrockBasePath: string;
  table: RouteTable;
  /** What the configuration adds to each request. */
  fixed: { headers: readonly [name: string, value: string][]; query: UpstreamQuery };
}

/** The upstream that serves a request, and the key that it needs there. */
export interface KeyDestination {
  account: "key";
  upstream: UpstreamSettings;
  key: KeyRef;
}

/** An upstream to which each tool sends a key of its own. There is none to read; where records name one, they have this name. */
export interface OwnDestination {
  account: "own";
  upstream: UpstreamSettings;
  key: { name: string };
}

/** An upstream of the configuration. */
export type Destination = KeyDestination | OwnDestination;

/** The service of a plan. It has no key; where records name one, they have the plan's name. */
export interface PlanDestination {
  account: "plan";
  plan: Plan;
  upstream: UpstreamSettings;
  key: { name: string };
  /** True while the service is expected to charge for use beyond the plan: it did at the last response, and the plan's window has not reset. */
  isExtra: boolean;
}

/** The limits of one round trip, from the configuration. */
export interface RoundTripLimits {
  /** Longest time for sending, and then for waiting for the response head, in milliseconds. */
  firstByteMs: number;
  /** Longest time between two chunks of the response, in milliseconds. */
  betweenBytesMs: number;
  /** Largest request body in bytes. A larger one is refused with 413 and not buffered. */
  bodyBytes: number;
  /** Longest pause of the client within the request body, in milliseconds. */
  bodyIdleMs: number;
  /** Time for the upstream to report its final usage after the client has disconnected, in milliseconds. */
  graceMs: number;
}

/** A configuration prepared for requests. Immutable: a reload makes a new one, and running requests keep theirs. */
export interface Settings {
  config: Config;
  rules: AdmissionRules;
  limits: RoundTripLimits;
  /** The routes of all upstreams. No other path is forwarded. */
  table: RouteTable;
  /** The plans that may pass, by their tools. */
  plans: ReadonlyMap<string, PlanDestination>;
  /** Where the requests go of tools that the configuration does not name, in the order of the file. Never empty. */
  destinations: Destinations;
  /** The same object for the same tool each time. */
  destinationsFor(tool: string): Destinations;
  /** null for a tool without aliases. */
  aliasesFor(tool: string): Aliases | null;
  /** null where every tool may do everything. */
  policyFor: PolicyLookup | null;
  /** True where the configuration says something of a tool by name. */
  namesTools: boolean;
  /** The names of keys that tools have instead of those of the upstreams. */
  toolKeys: ReadonlySet<string>;
  /** True where a project has a budget. */
  hasProjectBudgets: boolean;
  /** True where an upstream passes the own keys of tools. */
  passesOwnKeys: boolean;
}

/** The upstreams that a tool may use, in the order of the file. */
export type Destinations = readonly [Destination, ...Destination[]];

/** Prepares a configuration. Throws when it has no upstream. */
export function prepareSettings(config: Config): Settings {
  const prepared = new Map<Upstream, UpstreamSettings>();
  for (const upstream of Object.values(config.upstreams)) {
    const { host, hostname } = new URL(upstream.origin);
    const isLocal = isLoopbackHost(hostname) || config.listen.allowedHosts.includes(host);
    const table = buildRouteTable(listRoutes(upstream));
    const fixed = { headers: Object.entries(upstream.headers), query: new UpstreamQuery(upstream) };
    prepared.set(upstream, {
      ...upstream,
      recordedAs: recordedName(upstream),
      googleBasePath: googleBasePath(upstream.basePath),
      bedrockBasePath: bedrockBasePath(upstream.basePath),
      host,
      isLocal,
      table,
      fixed,
    });
  }

  function destinationsOf(tool: string, fallback: Destinations | null): Destinations {
    const keyName = keyNameOfTool(config, tool);
    const [first, ...others] = upstreamsForTool(config, tool).flatMap((upstream) => {
      const settings = prepared.get(upstream);
      return settings === undefined ? [] : [destinationAt(settings, keyName)];
    });
    // A tool without settings of its own shares them: a thousand tools have a thousand upstreams each.
    if (fallback !== null && keyName === null && others.length + 1 === fallback.length) return fallback;
    if (first === undefined) throw new Error("the configuration has no upstream for this tool");
    return [first, ...others];
  }

  const destinations = destinationsOf("", null);
  const aliases = aliasesOfTool(config, "");
  const ownAliases = new Map(Object.keys(config.tools).map((name) => [name, aliasesOfTool(config, name)]));
  const named = new Map(Object.keys(config.tools).map((name) => [name, destinationsOf(name, destinations)]));
  return {
    config,
    rules: config.listen,
    limits: { ...config.limits, graceMs: config.abort.graceMs },
    table: joinTables([...prepared.values()]),
    plans: preparePlans(config),
    destinations,
    destinationsFor: (tool) => named.get(tool) ?? destinations,
    aliasesFor: (tool) => ownAliases.get(tool) ?? aliases,
    policyFor: preparePolicies(config),
    toolKeys: keysOfTools(config),
    namesTools: Object.keys(config.tools).some((name) => name !== OTHERS),
    hasProjectBudgets: Object.values(config.projects).some(({ budgets }) => budgets.length > 0),
    passesOwnKeys: Object.values(config.upstreams).some(({ credential }) => credential === "client"),
  };
}

/** Returns an upstream with the key of this name; null for its own. One that passes the own keys of tools has none. */
export function destinationAt(upstream: UpstreamSettings, keyName: string | null): Destination {
  return upstream.credential === "client"
    ? { account: "own", upstream, key: { name: upstream.recordedAs } }
    : { account: "key", upstream, key: resolveKeyRef(upstream, keyName) };
}

function preparePlans({ plans }: Config): ReadonlyMap<string, PlanDestination> {
  return new Map(
    PLANS.filter(({ tool }) => plans.includes(tool)).map((plan) => {
      const { tool, name, baseUrl, hasWebSocket } = plan;
      const upstream = createUpstream("plan", baseUrl);
      const settings = {
        ...upstream,
        name,
        recordedAs: name,
        key: name,
        websocket: hasWebSocket && ("auto" as const),
        host: new URL(baseUrl).host,
        isLocal: false,
        googleBasePath: upstream.basePath,
        bedrockBasePath: upstream.basePath,
        table: buildPlanTable(plan),
        fixed: { headers: [], query: new UpstreamQuery(upstream) },
      };
      return [tool, { account: "plan", plan, upstream: settings, key: { name }, isExtra: false }];
    }),
  );
}

function keysOfTools(config: Config): ReadonlySet<string> {
  const names = [OTHERS, ...Object.keys(config.tools)].map((tool) => keyNameOfTool(config, tool));
  return new Set(names.filter((name) => name !== null));
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
