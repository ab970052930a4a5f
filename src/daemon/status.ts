import { isDeepStrictEqual } from "node:util";
import { listConfiguredKeys } from "../core/policy/configured-keys.ts";
import { describeKeySource } from "../core/secrets/key-source.ts";
import { describeOutbound } from "../core/config/outbound.ts";
import { SANDBOX_UPSTREAM } from "../core/config/names.ts";
import type { Clock, ConfigSource, Ledger } from "../ports.ts";
import type { Gate } from "../proxy/gate.ts";
import type { Keyring } from "../proxy/keyring.ts";
import type { TokenRegistry } from "../proxy/token-registry.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { programVersion } from "../adapters/program.ts";
import type { RecordFeed } from "./record-feed.ts";
import type { LastError } from "./last-error.ts";
import type { DaemonStatus, KeyStatus, LastExchange } from "./status-types.ts";

/** The parts that the status describes. */
export interface StatusParts {
  lifecycle: Lifecycle;
  source: ConfigSource;
  keyring: Keyring;
  tokens: TokenRegistry;
  ledger: Ledger;
  gate: Gate;
  feed: RecordFeed;
  clock: Clock;
  lastError: () => LastError | null;
}

/** Describes the daemon's present state. */
export function describeDaemon(parts: StatusParts): DaemonStatus {
  const { lifecycle, source, tokens, gate, ledger, feed, clock } = parts;
  const { access, upstreams, outbound } = gate.settings.config;
  const { registered, leased, problem } = tokens.status;
  return {
    at: isoTime(clock.now()),
    version: programVersion(),
    pid: process.pid,
    state: lifecycle.isStopping ? "stopping" : "serving",
    startedAt: lifecycle.startedAt.toISOString(),
    listening: lifecycle.addresses,
    access: { ...access, tokens: { registered, lent: leased, problem } },
    upstreams: Object.values(upstreams).map(({ name, baseUrl }) => {
      return {
        name,
        baseUrl,
        isSandbox: name === SANDBOX_UPSTREAM,
        lastExchange: lastExchangeOf(feed, name),
      };
    }),
    outbound: describeOutbound(outbound),
    keys: keyStatuses(source, parts.keyring),
    config: source.status(),
    ledger: ledger.health(),
    openExchanges: gate.openExchanges,
    lastError: parts.lastError(),
  };
}

function lastExchangeOf(feed: RecordFeed, upstream: string): LastExchange | null {
  const record = feed.newest(upstream);
  if (record === null) return null;
  const { ts, duration_ms: durationMs, outcome, status } = record;
  return { at: isoTime(Date.parse(ts) + durationMs), outcome, status };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function keyStatuses(source: ConfigSource, keyring: Keyring): KeyStatus[] {
  const states = keyring.states();
  return listConfiguredKeys(source.current()).map(({ upstream, ref }) => {
    const known = states.find((state) => isDeepStrictEqual(state.ref, ref));
    return {
      upstream: upstream.name,
      name: ref.name,
      source: describeKeySource(ref.source),
      state: known?.state ?? "not asked yet",
      problem: known?.problem ?? null,
      at: known === undefined ? null : isoTime(known.at),
    };
  });
}
