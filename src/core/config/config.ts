import { SANDBOX_UPSTREAM } from "./names.ts";
import type { Issue } from "./problem.ts";
import { findRuleIssues } from "./rules.ts";
import { configSchema } from "./schema.ts";
import type { OutputOf } from "./shape.ts";

/**
 * The resolved configuration: defaults filled in, addresses parsed, paths absolute. Times are in milliseconds, sizes in
 * bytes; schema.ts describes each key. Without upstreams the built-in sandbox responds. Look up tools with `chooseUpstream`,
 * because clients choose their own tool names.
 */
export type Config = OutputOf<typeof configSchema>;

/** An upstream: its name, address (`baseUrl` without trailing slash, `origin`, `basePath`), key and routes. */
export type Upstream = Config["upstreams"][string];

/** Who is served: `mode`, and the uids of other users whose programs are admitted (`peerUid`). */
export type Access = Config["access"];

/** The header that carries a route's credential: `Authorization: Bearer`, `x-api-key`, `api-key` or `x-goog-api-key`. */
export type Auth = Upstream["countTokensAuth"];

/** How a route carries its credential; `none` for an upstream that takes no key, `sigv4` for one whose requests are signed. */
export type RouteAuth = Auth | "none" | "sigv4";

/** What is sent to an OpenTelemetry collector, where, and how. */
export type OtlpConfig = NonNullable<Config["export"]["otlp"]>;

/** The configuration of an empty file. */
export const defaultConfig: Config = resolve({});

/** Returns an upstream with this name and base URL, and defaults for everything else. */
export function createUpstream(name: string, baseUrl: string): Upstream {
  const [upstream] = Object.values(resolve({ upstreams: { [name]: { baseUrl } } }).upstreams);
  if (upstream === undefined) throw new Error("an upstream was lost");
  return upstream;
}

/** Resolves a configuration that the program itself wrote. Throws when it is not valid. */
function resolve(file: object): Config {
  const result = configSchema.read(file, []);
  if ("issues" in result) throw new Error("a built-in configuration is not valid");
  return result.value;
}

/** A resolved configuration, or everything that is wrong with the file. */
type ConfigResult = { ok: true; config: Config } | { ok: false; issues: Issue[] };

/**
 * Checks and resolves the JSON value of a configuration file. Reports all issues at once, also those between values. `home` is
 * absolute, for paths that start with `~/`. The result shares no object with `file`.
 */
export function checkConfig(file: unknown, home: string): ConfigResult {
  const result = configSchema.read(file, []);
  const issues = [...("issues" in result ? result.issues : []), ...findRuleIssues(file)];
  if ("issues" in result || issues.length > 0) return { ok: false, issues };
  return { ok: true, config: resolvePaths(result.value, home) };
}

/** Expands `~`, which no shell does for a service. Modifies `config`. */
function resolvePaths(config: Config, home: string): Config {
  const expand = (path: string) => (path.startsWith("~/") ? home + path.slice(1) : path);
  for (const { keySource } of Object.values(config.upstreams)) {
    if (keySource.kind === "file") keySource.path = expand(keySource.path);
  }
  if (config.listen.socket !== null) config.listen.socket = expand(config.listen.socket);
  for (const header of Object.values(config.export.otlp?.headers ?? {})) {
    if ("source" in header && header.source.kind === "file") header.source.path = expand(header.source.path);
  }
  if (config.outbound.caFile !== null) config.outbound.caFile = expand(config.outbound.caFile);
  if (config.priceTable !== null) config.priceTable = expand(config.priceTable);
  if (config.ledger.directory !== null) config.ledger.directory = expand(config.ledger.directory);
  // Records name directories without a slash at the end.
  const projects = Object.entries(config.projects).map(
    ([path, entry]) => [expand(path).replace(/(?<=.)\/+$/, ""), entry] as const,
  );
  config.projects = Object.fromEntries(projects);
  return config;
}

/** What of a configuration decides prices. */
export interface PriceSettings {
  prices: Config["prices"];
  /** Path of an imported table; null for none. */
  priceTable: Config["priceTable"];
  upstreams: Readonly<Record<string, PricedUpstream>>;
}

/** What of an upstream decides prices. */
export type PricedUpstream = Pick<Upstream, "name" | "baseUrl" | "auth" | "prices" | "discount">;

/** Returns that part of a configuration, to be passed to a thread. */
export function priceSettingsOf({ prices, priceTable, upstreams }: Config): PriceSettings {
  const known = Object.entries(upstreams).filter(([, { name }]) => name !== SANDBOX_UPSTREAM);
  const priced = known.map(([key, upstream]) => [key, pricedPart(upstream)] as const);
  return { prices, priceTable, upstreams: Object.fromEntries(priced) };
}

/** Returns what of an upstream decides prices. */
export function pricedPart({ name, baseUrl, auth, prices, discount }: PricedUpstream): PricedUpstream {
  return { name, baseUrl, auth, prices, discount };
}
