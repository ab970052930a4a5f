/** What a request is like. All but the short ones take a while, and a kill finds many of them under way. */
export const KINDS = [
  "short",
  "short stream",
  "stream",
  "late stream",
  "silent",
  "slow upload",
  "abandoned stream",
] as const;
export type Kind = (typeof KINDS)[number];

/** What clients and upstream know of one request. Times are `performance.now()`, in milliseconds. */
export interface BookEntry {
  /** Its number, which is also its input tokens. */
  number: number;
  kind: Kind;
  /** How long it takes. */
  lastsMs: number;
  /** Which daemon it was sent to, counted from 0. */
  round: number;
  /** When the upstream had its head; null if that never came. */
  receivedAt: number | null;
  /** When the upstream sent its first usage. */
  usageAt: number | null;
  /** True when the client has the whole response. */
  isAnswered: boolean;
}

/** One life of the daemon. */
export interface Round {
  killedAt: number;
  /** The longest delay of a timer in this process or of an answer of the daemon: so late its notes may have been as well. */
  lagMs: number;
}

/** The books of clients and upstream, to compare the ledger with. */
export class Books {
  readonly entries: BookEntry[] = [];
  readonly rounds: Round[] = [];

  /** Opens the entry of the next request. Its session, by which upstream and ledger know it, is its number. */
  open(kind: Kind, lastsMs: number): BookEntry {
    const number = this.entries.length + 1;
    const round = this.rounds.length;
    const entry = { number, kind, lastsMs, round, receivedAt: null, usageAt: null, isAnswered: false };
    this.entries.push(entry);
    return entry;
  }

  entryOf(session: string | null): BookEntry | undefined {
    return this.entries[Number(session) - 1];
  }
}

/** The output tokens of request `number`, when it is complete. */
export function outputTokens(number: number): number {
  return (number % 7) + 2;
}
