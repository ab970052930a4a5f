/** What a client asks for. Forbidden ones name a model that their group does not allow. */
export type Kind = "create" | "warm-up" | "steer" | "forbidden";

/** How the upstream ends a response. */
export type Ending = "completed" | "incomplete" | "failed" | "error";

/** What clients and upstream know of one message. Times are `performance.now()`, in milliseconds. */
export interface BookEntry {
  /** Its number, which is also its input tokens and, in the ledger, its session. */
  number: number;
  kind: Kind;
  /** Which daemon it was sent to, counted from 0. */
  round: number;
  /** How often it reached the upstream. */
  arrivals: number;
  /** When it first did; null if it never did. */
  arrivedAt: number | null;
  /** When the upstream began the response to it; for a steer, the successor. */
  begunAt: number | null;
  /** When the client got its first event; null if it never did. Until then, what a slow client does not read may keep it from the daemon. */
  seenAt: number | null;
  /** How the upstream has ended that response; null while it has not. */
  ending: Ending | null;
  /** True once the client has the end of it, or its refusal. */
  isAnswered: boolean;
}

/** One life of the daemon. */
export interface Round {
  end: "kill" | "stop";
  endedAt: number;
  /** The longest delay of a timer in this process or of an answer of the daemon: so late its notes may have been as well. */
  lagMs: number;
}

/** The books of clients and upstream, to compare the ledger with. */
export class Books {
  readonly entries: BookEntry[] = [];
  readonly rounds: Round[] = [];
  /** What no record shows: text that was changed, pings without a pong. */
  readonly faults: string[] = [];
  /** How often each thing has happened: a run in which nothing happens proves nothing. */
  readonly counts = new Map<string, number>();

  /** Opens the entry of the next message. */
  open(kind: Kind): BookEntry {
    const entry: BookEntry = {
      number: this.entries.length + 1,
      kind,
      round: this.rounds.length,
      arrivals: 0,
      arrivedAt: null,
      begunAt: null,
      seenAt: null,
      ending: null,
      isAnswered: false,
    };
    this.entries.push(entry);
    this.count(kind);
    return entry;
  }

  entryOf(number: string | number | null): BookEntry | undefined {
    return this.entries[Number(number) - 1];
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** The output tokens of response `number`, when it is whole. A warm-up has none. */
export function outputTokens({ number, kind }: BookEntry): number {
  return kind === "warm-up" ? 0 : (number % 7) + 2;
}
