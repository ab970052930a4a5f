import type { UsageRecord } from "../../src/core/ledger/record.ts";
import type { LedgerHealth } from "../../src/ports.ts";

/** What is measured and read at the end of a run. */
export interface RunResults {
  seconds: number;
  /** The ledger of all daemons. */
  records: UsageRecord[];
  ledger: LedgerHealth;
  /** The files and the output of all daemons, by path or name. */
  texts: Record<string, string>;
  /** Resident bytes of the last daemon at regular intervals. */
  memory: readonly number[];
  idle: IdleState;
}

/** What a daemon holds when it is idle. */
export interface IdleState {
  /** From its status. */
  openExchanges: number;
  bufferedBytes: number;
  /** Nonces of requests that have not ended at the upstream. */
  openAtUpstream: string[];
  /** Idle connections to the upstream. */
  pooledConnections: number;
  /** After the pooled connections were closed as well. */
  descriptors: number;
  /** The descriptors of a fresh daemon. */
  descriptorLimit: number;
}
