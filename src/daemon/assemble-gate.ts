import { uptime } from "node:os";
import { accountSalt } from "../adapters/state-file/account-salt.ts";
import type { ActivatedSockets } from "../adapters/activated-sockets.ts";
import { descriptorLimit } from "../adapters/descriptor-limit.ts";
import { openLedger, refuseUnsafeLedger, type LedgerOptions } from "../adapters/ledger-file.ts";
import {
  accountSaltPath,
  budgetStatePath,
  ledgerLocation,
  limitsPath,
  metricsPath,
  stateDirectory,
} from "../adapters/paths.ts";
import { createPeerInfo } from "../adapters/peer.ts";
import { type Config, priceSettingsOf } from "../core/config/config.ts";
import type { Health } from "../core/health.ts";
import { configOptionOf } from "../core/refusals/refusal.ts";
import type { Metric } from "../core/metrics/metric.ts";
import { respondToProbe } from "../local/connectivity-probe.ts";
import { feedResponder, type FeedSources } from "../local/dashboard/feeds.ts";
import { assetResponder, pageResponder } from "../local/dashboard/page.ts";
import { healthResponder } from "../local/health.ts";
import { metricsResponder } from "../local/metrics.ts";
import type {
  ConfigStatus,
  KeyStore,
  Log,
  MachineClock,
  MovableLedger,
  Pauses,
  TokenStore,
} from "../ports.ts";
import { Gate } from "../proxy/gate.ts";
import { Keyring } from "../proxy/keyring.ts";
import { PlanAccounts } from "../proxy/plan-accounts.ts";
import { PeerGuard } from "../proxy/client/peer-guard.ts";
import { prepareSettings } from "../core/decide/settings.ts";
import { TokenRegistry } from "../proxy/client/token-registry.ts";
import { PROCESS_SIGNATURES, REQUEST_SIGNATURES, WRITABLE_TOOL_NAMES } from "../tools/all.ts";
import { pageFiles } from "./dashboard/page-files.ts";
import { announce } from "./notices/announce.ts";
import { DaemonCaptures } from "./capture/captures.ts";
import { DaemonBudgets } from "./budgets.ts";
import { DaemonCreators } from "./creators.ts";
import { housekeepingFor } from "./housekeeping.ts";
import { Listeners } from "./listeners.ts";
import { DaemonLimits } from "./limits.ts";
import { DaemonMetrics } from "./metrics.ts";
import type { RecordFeed } from "./record-feed.ts";

/** What the request path is built from. */
interface GateEnvironment {
  /** With at least a default upstream. */
  config: Config;
  /** Path of the configuration file; null for the usual one. */
  configFile: string | null;
  keys: KeyStore;
  tokens: TokenStore;
  clock: MachineClock;
  log: Log;
  feed: RecordFeed;
  pauses: Pauses;
  health: () => Health;
  /** null without a dashboard. */
  feeds: FeedSources | null;
  /** Resolves to what the daemon knows of itself, for metrics; nothing until it has started. */
  describeDaemon(): Promise<readonly Metric[]>;
  sockets: ActivatedSockets;
  /** Returns the managed configuration file in force and what it locks; null without one. */
  managed: () => ConfigStatus["managed"];
}

/** The parts that a request passes through, listening. */
export interface AssembledGate {
  ledger: MovableLedger;
  keyring: Keyring;
  tokens: TokenRegistry;
  budgets: DaemonBudgets;
  limits: DaemonLimits;
  captures: DaemonCaptures;
  metrics: DaemonMetrics;
  gate: Gate;
  listeners: Listeners;
}

export const systemClock: MachineClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => uptime() * 1_000,
};

/**
 * Builds the request path and starts listening. `serve` and `check` both use it, so that `check` tests what `serve` runs.
 * Throws a Failure when the ledger's directory cannot be used, the port is taken, or the Unix socket cannot be opened.
 */
export async function assembleGate(parts: GateEnvironment): Promise<AssembledGate> {
  const { config, keys, clock, log, feed, sockets } = parts;
  const keepHouse = housekeepingFor(log);
  // Days may be over before the gate is assembled.
  let current = (): Config => config;
  const onNewDay: LedgerOptions["onNewDay"] = (location, now) =>
    void keepHouse(location, now, priceSettingsOf(current()));
  const location = ledgerLocation(config);
  await refuseUnsafeLedger(location.directory);
  const ledger = feed.publishing(openLedger({ ...location, clock, log, onNewDay }));
  const keyring = new Keyring(keys, clock, log);
  const peerInfo = createPeerInfo(PROCESS_SIGNATURES, sockets.diagnostics);
  const peers = new PeerGuard(peerInfo, process.getuid?.() ?? null, clock, log);
  const tokens = new TokenRegistry(parts.tokens, log);
  const budgets = new DaemonBudgets({
    feed,
    ledger,
    statePath: budgetStatePath(),
    managed: parts.managed,
    clock,
    log,
  });
  budgets.use(config);
  const limits = new DaemonLimits({
    path: limitsPath(),
    clock,
    log,
    warn: (notice) => announce({ feed, clock, log }, notice, current().serviceLimits.notify),
  });
  const captures = new DaemonCaptures({
    directory: stateDirectory(),
    clock,
    log,
    secrets: () => keyring.secrets,
    announce: (notice) => announce({ feed, clock, log }, notice, false),
    config: () => current(),
    managed: parts.managed,
  });
  const metrics = new DaemonMetrics({
    path: metricsPath(),
    describeDaemon: () => parts.describeDaemon(),
    clock,
    log,
  });
  await metrics.use(config, ledger.health().directory);
  const configOption = configOptionOf(parts.configFile);
  const gate = new Gate({
    settings: prepareSettings(config),
    local: {
      probe: respondToProbe,
      page: pageResponder(parts.feeds?.sessions.pageKey ?? "", configOption),
      asset: assetResponder(pageFiles()),
      feed: feedResponder(parts.feeds),
      health: healthResponder(parts.health),
      metrics: metricsResponder(metrics, configOption),
    },
    keyring,
    ledger,
    peers,
    tokens,
    pauses: parts.pauses,
    budgets,
    creators: new DaemonCreators({ feed, ledger, clock, log }),
    limits,
    captures,
    accounts: new PlanAccounts(() => accountSalt(accountSaltPath(), log)),
    signatures: REQUEST_SIGNATURES,
    connectable: WRITABLE_TOOL_NAMES,
    configOption,
    clock,
    log,
    onUnrecorded: (refusal) => feed.refused(refusal),
    descriptorLimit: descriptorLimit(),
  });
  current = () => gate.settings.config;
  const listeners = await Listeners.open(gate, config, log, sockets.listening);
  return { ledger, keyring, tokens, budgets, limits, captures, metrics, gate, listeners };
}
