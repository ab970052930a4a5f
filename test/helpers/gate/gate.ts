import { configOptionOf, type UnrecordedRefusal } from "../../../src/core/refusals/refusal.ts";
import type { TestContext } from "node:test";
import { defaultConfig, type Config, type Upstream } from "../../../src/core/config/config.ts";
import { provokesRetry } from "../../../src/core/refusals/retry-triggers.ts";
import { respondToProbe } from "../../../src/local/connectivity-probe.ts";
import { feedResponder, type FeedSources } from "../../../src/local/dashboard/feeds.ts";
import { assetResponder, pageResponder } from "../../../src/local/dashboard/page.ts";
import { healthResponder } from "../../../src/local/health.ts";
import { metricsResponder, type MetricsSource } from "../../../src/local/metrics.ts";
import type { Health } from "../../../src/core/health.ts";
import { Gate } from "../../../src/proxy/gate.ts";
import { Keyring } from "../../../src/proxy/keyring.ts";
import { listen, type Listener } from "../../../src/proxy/client/listener.ts";
import { PlanAccounts } from "../../../src/proxy/plan-accounts.ts";
import { PeerGuard } from "../../../src/proxy/client/peer-guard.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { TokenRegistry } from "../../../src/proxy/client/token-registry.ts";
import type {
  Budgets,
  Captures,
  MachineClock,
  Creators,
  KeyStore,
  Ledger,
  Limits,
  Pauses,
  PeerInfo,
} from "../../../src/ports.ts";
import { REQUEST_SIGNATURES, WRITABLE_TOOL_NAMES } from "../../../src/tools/all.ts";
import { MemoryKeys, MemoryLedger, MemoryLog, MemoryTokens, peersOf, realClock } from "./memory.ts";

/** A key that tests can search for wherever it must not appear. */
export const TEST_KEY = "sentinel-key-4711-do-not-leak";

const NO_METRICS: MetricsSource = {
  isOn: false,
  needsToken: false,
  write: () => Promise.reject(new Error("metrics are off")),
};

const NO_BUDGETS: Budgets = {
  counting: null,
  judge: () => null,
  hold: () => ({ percent: null, reserved: null, release: () => {} }),
};

/** A gate in this process, with real sockets and in-memory implementations of the ports. */
export interface TestGate {
  gate: Gate;
  listener: Listener;
  /** `http://127.0.0.1:PORT` */
  url: string;
  port: number;
  ledger: MemoryLedger;
  keys: MemoryKeys;
  keyring: Keyring;
  tokens: MemoryTokens;
  tokenGuard: TokenRegistry;
  log: MemoryLog;
  upstream: Upstream;
}

export interface GateOptions {
  config?: Partial<Config>;
  /** Path of the configuration file; by default the usual one. */
  configFile?: string;
  upstream?: Partial<Upstream>;
  peers?: PeerInfo;
  /** The uid the gate runs as; by default this process's. */
  ownUid?: number;
  /** By default nothing is paused. */
  pauses?: Pauses;
  /** What the feeds of the dashboard tell; without it there are none. */
  feeds?: FeedSources;
  /** What health checks are told; `ok` by default. */
  health?: () => Health;
  /** What Prometheus is told; by default metrics are off. */
  metrics?: MetricsSource;
  /** By default none that refuses anything. */
  budgets?: Budgets;
  /** Who created stored objects; by default it is not known. */
  creators?: Creators;
  /** Takes in what upstreams say of limits, and judges by it; by default, nothing does. */
  limits?: Limits;
  /** Copies what passes; by default, nothing does. */
  captures?: Captures;
  /** The registered tokens; none by default. */
  tokens?: MemoryTokens;
  clock?: MachineClock;
  /** Where keys are read from; by default, from memory. */
  keyStore?: KeyStore;
  /** See `GateParts`. */
  onUnrecorded?: (refusal: UnrecordedRefusal) => void;
  /** Receives the records instead of the in-memory ledger. */
  recordsTo?: Ledger;
  /** See `listen`. */
  headersLimitMs?: number;
  /** See `GateParts`; unlimited by default. */
  descriptorLimit?: number;
}

/** Starts a gate in front of `baseUrl` with {@link TEST_KEY} as its key. Ends with the test. */
export async function startGate(
  t: TestContext,
  baseUrl: string,
  options: GateOptions = {},
): Promise<TestGate> {
  const upstream = upstreamAt(baseUrl, options.upstream);
  const config = { ...defaultConfig, upstreams: { default: upstream }, ...options.config };
  const [ledger, keys, log] = [new MemoryLedger(), new MemoryKeys(), new MemoryLog()];
  const clock = options.clock ?? realClock;
  keys.set({ name: upstream.key, origin: upstream.origin }, TEST_KEY);
  const keyring = new Keyring(options.keyStore ?? keys, clock, log);
  const ownUid = options.ownUid ?? process.getuid?.() ?? null;
  const peers = new PeerGuard(options.peers ?? peersOf(null), ownUid, clock, log);
  const tokens = options.tokens ?? new MemoryTokens();
  const tokenGuard = new TokenRegistry(tokens, log);
  const settings = prepareSettings(config);
  const gate = new Gate({
    settings,
    local: {
      probe: respondToProbe,
      page: pageResponder(options.feeds?.sessions.pageKey ?? "", ""),
      asset: assetResponder(() => null),
      feed: feedResponder(options.feeds ?? null),
      health: healthResponder(options.health ?? (() => "ok")),
      metrics: metricsResponder(options.metrics ?? NO_METRICS, ""),
    },
    keyring,
    ledger: options.recordsTo ?? ledger,
    peers,
    tokens: tokenGuard,
    pauses: options.pauses ?? { judge: () => null, namesTools: false },
    budgets: options.budgets ?? NO_BUDGETS,
    creators: options.creators ?? { find: () => null, look: () => Promise.resolve() },
    accounts: new PlanAccounts(() => Buffer.alloc(32, 7)),
    limits: options.limits ?? { judge: () => null, sawResponse() {}, sawEvent() {} },
    captures: options.captures ?? { isOn: false, open: () => null },
    signatures: REQUEST_SIGNATURES,
    connectable: WRITABLE_TOOL_NAMES,
    configOption: configOptionOf(options.configFile ?? null),
    clock,
    log,
    onUnrecorded: options.onUnrecorded ?? (() => {}),
    descriptorLimit: options.descriptorLimit ?? Infinity,
  });
  const listener = await listenOnNameablePort(gate, options);
  t.after(async () => {
    gate.close();
    await listener.destroy();
  });
  const { port } = listener;
  const url = `http://127.0.0.1:${port}`;
  return { gate, listener, port, url, ledger, keys, keyring, tokens, tokenGuard, log, upstream };
}

/** Listens on a port that a refusal may name: it leaves out what tools would read as a status, such as 42950. */
async function listenOnNameablePort(gate: Gate, options: GateOptions): Promise<Listener> {
  const listener = await listen(0, gate, { headersLimitMs: options.headersLimitMs });
  if (!provokesRetry(String(listener.port))) return listener;
  await listener.destroy();
  return listenOnNameablePort(gate, options);
}

/** Gate options with the default limits and these changes. */
export function withLimits(changes: Partial<Config["limits"]>): Pick<GateOptions, "config"> {
  return { config: { limits: { ...defaultConfig.limits, ...changes } } };
}

/** An upstream's settings, with the configuration's defaults. */
export function upstreamAt(baseUrl: string, overrides: Partial<Upstream> = {}): Upstream {
  const { origin, pathname } = new URL(baseUrl);
  return {
    name: "default",
    baseUrl,
    origin,
    basePath: pathname,
    key: "default",
    keySource: { kind: "keychain" },
    credential: "key",
    auth: null,
    region: null,
    apis: null,
    models: null,
    fallback: [],
    headers: {},
    query: {},
    allowQuery: [],
    countTokensAuth: "x-api-key",
    anthropicVersion: "2023-06-01",
    inputIncludesCache: false,
    websocket: false,
    freeWarmups: false,
    routes: [],
    prices: {},
    discount: 0,
    ...overrides,
  };
}

/** Resolves when the gate has handled everything sent to it before. */
export async function waitUntilHandled(gate: { url: string }): Promise<void> {
  await fetch(`${gate.url}/`, { method: "HEAD" });
}

/** Posts JSON through the gate. */
export function post(
  gate: { url: string },
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  return fetch(gate.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}
