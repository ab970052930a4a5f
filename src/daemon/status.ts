import { setTimeout as delay } from "node:timers/promises";
import { freeBytes } from "../adapters/ledger-file.ts";
import { programBuild } from "../adapters/program-build.ts";
import { programVersion } from "../adapters/program.ts";
import type { Access } from "../core/config/config.ts";
import { recordedName } from "../core/plans/names.ts";
import { SANDBOX_UPSTREAM } from "../core/config/names.ts";
import { describeOutbound } from "../core/config/outbound.ts";
import type { CaptureStatus } from "../core/capture/captured.ts";
import type { BudgetsStatus } from "../core/budget/budget-status.ts";
import { judgeHealth, type Health } from "../core/health.ts";
import type { RefusalCode, UnrecordedRefusal } from "../core/refusals/refusal.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import type { AccountStatus } from "../core/limits/account-limits.ts";
import type { LimitHold } from "../core/limits/keep.ts";
import type { Pause } from "../core/policy/pauses.ts";
import { listToolsOf } from "../core/policy/tool-access.ts";
import { listConfiguredKeys } from "../core/policy/configured-keys.ts";
import { describeKeySource, identifyKey } from "../core/secrets/key-source.ts";
import { describeFailure, findFailing, type Failing } from "../core/upstream-health.ts";
import type { Outcome } from "../core/usage/reading.ts";
import type { Clock, ConfigSource, ConfigStatus, LedgerHealth, LogSubject } from "../ports.ts";
import type { Keyring } from "../proxy/keyring.ts";
import type { TokenStatus } from "../proxy/client/token-registry.ts";
import type { DaemonExporter, ExportStatus } from "./exporter.ts";
import type { LastError, TrackedLog } from "./last-error.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { DaemonPauses } from "./pauses.ts";
import type { RecordFeed } from "./record-feed.ts";
import type { AssembledGate } from "./assemble-gate.ts";

/** A keychain or disk that does not respond must not keep `status` waiting. */
const RETRY_LIMIT_MS = 1_500;

/** The status that a running daemon sends over its control socket. Times are ISO 8601, UTC. */
export interface DaemonStatus extends BudgetsStatus {
  /** When the status was made. */
  at: string;
  /** Version and build of the program that this process runs, whatever has been installed since. */
  version: string;
  build: string | null;
  pid: number;
  startedAt: string;
  /** `stopping`: open exchanges may finish, and new connections are refused. */
  state: "serving" | "stopping";
  /** e.g. `127.0.0.1:8655`. */
  listening: string[];
  /** Path of the Unix socket on which it listens as well; null when there is none. */
  socket: string | null;
  access: AccessStatus;
  upstreams: UpstreamStatus[];
  groups: GroupStatus[];
  /** How much of the services' own limits is used, by their responses. */
  limits: AccountStatus[];
  /** Brakes that refuse requests now, because too little of a service's limit is left. */
  holds: LimitHold[];
  /** What a person has paused. */
  pauses: readonly Pause[];
  /** Captures that run or are kept. */
  captures: CaptureStatus[];
  refused: RefusedStatus;
  /** Sentences that describe proxy and TLS settings other than the defaults. Never contain a password. */
  outbound: string[];
  /** Every key that the configuration names, as of its last lookup. */
  keys: KeyStatus[];
  config: ConfigStatus;
  ledger: LedgerStatus;
  /** What is sent to an OpenTelemetry collector; null while the configuration names none. */
  export: ExportStatus | null;
  openExchanges: number;
  /** Bytes in memory that wait until tools and upstreams read them. */
  bufferedBytes: number;
  /** The newest warning or error since the start; null when there was none. */
  lastError: LastError | null;
}

/** The ledger, and the space that is left for it. */
interface LedgerStatus extends LedgerHealth {
  /** What can still be written to its disk; null if that cannot be said. */
  freeBytes: number | null;
}

/** Who may use the daemon, and the state of its local tokens. */
export interface AccessStatus extends Access {
  tokens: TokenStatus;
}

/** A group of tools, and the models that they may request; null for all. */
interface GroupStatus {
  name: string;
  models: readonly string[] | null;
  /** The configured tools in it; `"*"` stands for every tool that names no group. */
  tools: string[];
}

/** The newest exchange with an upstream since the daemon's start. */
interface LastExchange {
  /** When it ended. */
  at: string;
  outcome: Outcome;
  /** Status of the response, the upstream's or our own; null when none was sent. */
  status: number | null;
}

/** One upstream, and how the exchanges with it went since the daemon's start. */
interface UpstreamStatus {
  name: string;
  baseUrl: string;
  /** Whose key pays there: ours, or the one that each tool sends. */
  credential: "key" | "client";
  isSandbox: boolean;
  /** Why its list of models is missing in the merged one; null when it is not, or no client has asked for it. */
  modelsProblem: string | null;
  /** For how many milliseconds requests still go to its fallback, because it failed repeatedly; null if they do not. */
  cooldownMs: number | null;
  lastExchange: LastExchange | null;
  /** The newest fault of the upstream, in words; null when there was none with this configuration, or it has responded since. */
  lastFailure: { at: string; reason: string } | null;
  /** How it fails; null when it does not. */
  failing: Failing | null;
  /** When an exchange last worked; null when none has. */
  workedAt: string | null;
}

/** The requests that the daemon has refused since its start. */
interface RefusedStatus {
  /** How many, by refusal code. */
  codes: Partial<Record<RefusalCode, number>>;
  /** How many more `tollkeeper check` has provoked. */
  checks: number;
  /** The newest one that left no record; null when there was none. */
  newest: UnrecordedRefusal | null;
}

/** One key: its source, and whether it could be read. Never contains its value. */
export interface KeyStatus {
  upstream: string;
  name: string;
  source: string;
  /** `present`, a failure code such as `locked`, or `not_asked`. */
  state: string;
  /** Error message of the last lookup; null when it succeeded or there was none. */
  problem: string | null;
  /** When it was last looked up; null when it has not been. */
  at: string | null;
  /** When it was last found; null when it has not been since the start. */
  workedAt: string | null;
  /** When the key in memory expires; null if that is not known, or there is none. */
  expiresAt: string | null;
  /** When and why it could last not be refreshed; null since it could. */
  refreshFailure: { at: string; problem: string } | null;
}

/** The parts that the status describes. */
export interface StatusParts extends Pick<
  AssembledGate,
  "gate" | "keyring" | "ledger" | "tokens" | "budgets" | "limits" | "captures"
> {
  lifecycle: Lifecycle;
  exporter: Pick<DaemonExporter, "status" | "isInOrder" | "restart">;
  source: ConfigSource;
  feed: RecordFeed;
  pauses: Pick<DaemonPauses, "all">;
  clock: Clock;
  lastError: TrackedLog["lastError"];
}

/** Describes the daemon's present state. Checks first whether earlier failures still exist. */
export async function describeDaemon(parts: StatusParts): Promise<DaemonStatus> {
  const { lifecycle, source, tokens, gate, ledger, feed, clock, keyring } = parts;
  if (tokens.status.problem !== null) tokens.reload();
  const isConfigBad = source.status().problems.length > 0;
  const retries = Promise.all([
    keyring.retryFailed(),
    isConfigBad ? source.reload() : null,
    parts.budgets.counting,
  ]);
  const limit = delay(RETRY_LIMIT_MS, null, { ref: false });
  const space = freeBytes(ledger.health().directory).catch(() => null);
  await Promise.race([retries, limit]);
  const free = await Promise.race([space, limit]);
  const { config } = gate.settings;
  const { access, upstreams, outbound } = config;
  const keys = keyStatuses(source, keyring);
  const isInOrder: Record<LogSubject, boolean> = {
    configuration: [...source.status().problems, ...source.status().overruled].length === 0,
    keys: keys.every(({ problem }) => problem === null),
    tokens: tokens.status.problem === null,
    ledger: ledger.health().waiting === 0,
    export: parts.exporter.isInOrder,
  };
  return {
    at: isoTime(clock.now()),
    version: programVersion(),
    build: programBuild(),
    pid: process.pid,
    state: lifecycle.isStopping ? "stopping" : "serving",
    startedAt: lifecycle.startedAt.toISOString(),
    listening: lifecycle.addresses,
    socket: lifecycle.unixSocket,
    access: { ...access, tokens: tokens.status },
    upstreams: Object.values(upstreams).map(({ name, baseUrl, credential }) => {
      return {
        name,
        baseUrl,
        credential,
        isSandbox: name === SANDBOX_UPSTREAM,
        modelsProblem: modelsProblemOf(name, gate),
        cooldownMs: gate.cooldownOf(name),
        ...pastOf(name, parts),
      };
    }),
    groups: Object.values(config.groups).map(({ name, models }) => {
      return { name, models, tools: listToolsOf(config, name) };
    }),
    ...parts.budgets.describe(),
    limits: parts.limits.describe(),
    holds: parts.limits.listHolds(gate.settings),
    pauses: parts.pauses.all,
    captures: parts.captures.describe(),
    refused: {
      codes: gate.refusals.totals(),
      checks: gate.checkPass.refused,
      newest: feed.newestRefusal,
    },
    outbound: describeOutbound(outbound),
    keys,
    config: source.status(),
    ledger: { ...ledger.health(), freeBytes: free },
    export: parts.exporter.status(),
    openExchanges: gate.openExchanges,
    bufferedBytes: gate.bufferedBytes,
    lastError: parts.lastError((subject) => isInOrder[subject]),
  };
}

/** Judges the daemon's health by what is known at this moment: nothing is tried again. */
export function healthOf({ lifecycle, source, keyring, tokens, ledger, gate }: StatusParts): Health {
  return judgeHealth({
    state: lifecycle.isStopping ? "stopping" : "serving",
    config: source.status(),
    keys: keyStatuses(source, keyring),
    access: { mode: gate.settings.config.access.mode, tokens: tokens.status },
    ledger: ledger.health(),
  });
}

/** Of the list with the upstream's own key: that of a tool's key has the same reason to fail, or the request for it says so. */
function modelsProblemOf(name: string, { models, settings }: StatusParts["gate"]): string | null {
  const destination = settings.destinations.find(({ upstream }) => upstream.name === name);
  return destination === undefined ? null : models.problemOf(destination);
}

type Past = Pick<UpstreamStatus, "lastExchange" | "lastFailure" | "failing" | "workedAt">;

function pastOf(upstream: string, parts: StatusParts): Past {
  const history = historyOf(upstream, parts);
  if (history === null) return { lastExchange: null, lastFailure: null, failing: null, workedAt: null };
  const { newest, worked } = history;
  const { outcome, status } = newest;
  const { failed, words } = currentFailure(upstream, parts);
  return {
    lastExchange: { at: endOf(newest), outcome, status },
    lastFailure: failed === null ? null : { at: endOf(failed), reason: describeFailure(failed, words) },
    failing: failed === null ? null : findFailing(history, words),
    workedAt: worked === null ? null : endOf(worked),
  };
}

/** What {@link failingUpstream} needs. */
type FailureParts = Pick<StatusParts, "feed" | "gate" | "source">;

/** Returns how an upstream fails; null when it does not. */
export function failingUpstream(upstream: string, parts: FailureParts): Failing | null {
  const { failed, words } = currentFailure(upstream, parts);
  return failed === null ? null : findFailing(historyOf(upstream, parts), words);
}

/** Returns the records of an upstream of the configuration. */
export function historyOf(name: string, { feed, gate }: Pick<StatusParts, "feed" | "gate">) {
  const upstream = gate.settings.config.upstreams[name];
  return feed.history(upstream === undefined ? name : recordedName(upstream));
}

/** Returns the newest failure with the words of our refusal, if we sent one. An edit may have fixed what failed before it. */
function currentFailure(upstream: string, { feed, gate, source }: FailureParts) {
  const failed = historyOf(upstream, { feed, gate })?.failed ?? null;
  if (failed === null || failed.ts < source.status().loadedAt) return { failed: null, words: null };
  return { failed, words: gate.failures.find(upstream, failed.error_type) };
}

function endOf({ ts, duration_ms: durationMs }: UsageRecord): string {
  return isoTime(Date.parse(ts) + durationMs);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function describeRefresh(failed: { at: number; problem: string } | null): KeyStatus["refreshFailure"] {
  return failed === null ? null : { at: isoTime(failed.at), problem: failed.problem };
}

function keyStatuses(source: ConfigSource, keyring: Keyring): KeyStatus[] {
  const states = keyring.states();
  const keys = listConfiguredKeys(source.current()).filter(({ ref }) => ref.source.kind !== "none");
  return keys.map(({ upstream, ref }) => {
    const known = states.find((state) => identifyKey(state.ref) === identifyKey(ref));
    return {
      upstream: upstream.name,
      name: ref.name,
      source: describeKeySource(ref.source),
      state: known?.state ?? "not_asked",
      problem: known?.problem ?? null,
      at: known === undefined ? null : isoTime(known.at),
      workedAt: typeof known?.presentAt === "number" ? isoTime(known.presentAt) : null,
      expiresAt: typeof known?.expiresAt === "number" ? isoTime(known.expiresAt) : null,
      refreshFailure: describeRefresh(known?.refreshFailure ?? null),
    };
  });
}
