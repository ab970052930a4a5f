import type { UsageRecord } from "../../src/core/ledger/record.ts";
import type { LedgerHealth } from "../../src/ports.ts";

/** What is measured and read when a run is over. */
export interface Figures {
  seconds: number;
  /** The whole ledger, of all daemons. */
  records: UsageRecord[];
  ledger: LedgerHealth;
  /** Everything that the daemons wrote and said, by where it stands. */
  writings: Record<string, string>;
  /** Resident bytes of the last daemon, at even distances. */
  memory: readonly number[];
  rest: Rest;
}

/** What a daemon holds when nobody wants anything of it. */
export interface Rest {
  /** As its status says. */
  openExchanges: number;
  /** Names of requests that have not ended there. */
  openAtUpstream: string[];
  /** Idle connections to the upstream. */
  pooledConnections: number;
  /** After the pool is gone, too. */
  descriptors: number;
  /** What a fresh daemon has. */
  descriptorLimit: number;
}
