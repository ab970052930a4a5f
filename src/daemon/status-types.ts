import type { Access } from "../core/config/config.ts";
import type { ConfigStatus, LedgerHealth } from "../ports.ts";
import type { TokenStatus } from "../proxy/token-registry.ts";
import type { Outcome } from "../core/usage/reading.ts";

/** The status that a running daemon sends over its control socket. Times are ISO 8601, UTC. */
export interface DaemonStatus {
  /** When the status was made. */
  at: string;
  version: string;
  pid: number;
  startedAt: string;
  /** `stopping`: open exchanges may finish, and new connections are refused. */
  state: "serving" | "stopping";
  /** e.g. `127.0.0.1:8655`. */
  listening: string[];
  access: AccessStatus;
  upstreams: { name: string; baseUrl: string; isSandbox: boolean; lastExchange: LastExchange | null }[];
  /** Sentences that describe proxy and TLS settings other than the defaults. Never contain a password. */
  outbound: string[];
  /** Every key that the configuration names, as of its last lookup. */
  keys: KeyStatus[];
  config: ConfigStatus;
  ledger: LedgerHealth;
  openExchanges: number;
  /** The newest warning or error since the start; null when there was none. */
  lastError: { at: string; message: string } | null;
}

/** Who may use the daemon, and the state of its local tokens. */
export interface AccessStatus extends Access {
  tokens: { registered: number; lent: number; problem: TokenStatus["problem"] };
}

/** The newest exchange with an upstream since the daemon's start. */
export interface LastExchange {
  /** When it ended. */
  at: string;
  outcome: Outcome;
  /** Status of the response, the upstream's or our own; null when none was sent. */
  status: number | null;
}

/** One key: its source, and whether it could be read. Never contains its value. */
export interface KeyStatus {
  upstream: string;
  name: string;
  source: string;
  /** `present`, a failure code such as `locked`, or `not asked yet`. */
  state: string;
  /** Error message of the last lookup; null when it succeeded or there was none. */
  problem: string | null;
  /** When it was last looked up; null when it has not been. */
  at: string | null;
}
