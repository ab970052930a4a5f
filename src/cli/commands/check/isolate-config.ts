import { createUpstream, type Config, type Upstream } from "../../../core/config/config.ts";
import type { KeySource } from "../../../core/secrets/key-source.ts";

/** Without choice by API or model, so that every guarantee holds for the first upstream, and for every tool. */
const SERVES_ALL = { apis: null, models: null };

/** What was spent is not in its ledger. */
const NO_BUDGETS = { projects: {}, keys: {}, budgets: [] };

const KEYCHAIN: KeySource = { kind: "keychain" };

/**
 * Gives each upstream a path of its own on the recording upstream, so that they can be told apart. Each gets a made-up key, also where
 * tools send their own or requests are signed: that is checked apart ({@link isolateCredentials}).
 */
export function isolateConfig(config: Config, origin: string, ledgerDirectory: string): Config {
  const upstreams = Object.values(config.upstreams);
  if (upstreams.length === 0) upstreams.push(createUpstream("default", `${origin}/v1`));
  const moved = upstreams.map((upstream): [string, Upstream] => {
    const auth = upstream.auth === "sigv4" ? null : upstream.auth;
    const keyed = { ...SERVES_ALL, auth, keySource: KEYCHAIN, credential: "key" as const };
    return [upstream.name, { ...moveUpstream(upstream, origin), ...keyed }];
  });
  return {
    ...isolateRest(config, ledgerDirectory),
    upstreams: Object.fromEntries(moved),
    tools: mapValues(config.tools, (tool) => ({ ...tool, budgets: [], brake: null })),
    groups: mapValues(config.groups, (group) => ({ ...group, models: null, budgets: [], brake: null })),
  };
}

/** A command that is never run: the access keys are made up. */
const ACCESS_KEYS: KeySource = { kind: "command", argv: ["never-run"], prints: "aws-keys" };

/** What a tool has that only says which upstream it uses. */
const PLAIN_TOOL = { key: null, group: null, aliases: {}, budgets: [], brake: null };

/** True where a request carries something other than a stored key. */
export function hasOtherCredential({ auth, credential }: Upstream): boolean {
  return auth === "sigv4" || credential === "client";
}

/** Keeps only the upstreams that sign requests or pass the keys of tools, with their APIs. A tool of the same name uses each of them. */
export function isolateCredentials(config: Config, origin: string, ledgerDirectory: string): Config {
  const kept = Object.values(config.upstreams).filter(hasOtherCredential);
  const moved = kept.map((upstream): [string, Upstream] => {
    const keySource = upstream.auth === "sigv4" ? ACCESS_KEYS : upstream.keySource;
    return [upstream.name, { ...moveUpstream(upstream, origin), models: null, fallback: [], keySource }];
  });
  return {
    ...isolateRest(config, ledgerDirectory),
    upstreams: Object.fromEntries(moved),
    tools: Object.fromEntries(kept.map(({ name }) => [name, { ...PLAIN_TOOL, upstreams: [name] }])),
    groups: {},
    aliases: {},
  };
}

function moveUpstream(upstream: Upstream, origin: string): Upstream {
  const basePath = `/${upstream.name}${upstream.basePath}`;
  return { ...upstream, origin, basePath, baseUrl: origin + basePath };
}

function isolateRest(config: Config, ledgerDirectory: string): Config {
  return {
    ...config,
    listen: { ...config.listen, port: 0, socket: null },
    access: { ...config.access, mode: "open" },
    ledger: { ...config.ledger, directory: ledgerDirectory },
    export: { ...config.export, metrics: null },
    ...NO_BUDGETS,
  };
}

function mapValues<Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
