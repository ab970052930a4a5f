import type { Outcome, UsageState } from "../../src/core/usage/reading.ts";

/** Token counts as the upstream made them up. */
export interface KnownTokens {
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
}

/** What the client and the ledger must hold of an answer that ended well. What is undefined is left open. */
export interface Truth {
  status: number;
  outcome: Outcome;
  usage: UsageState | undefined;
  responseId: string | null | undefined;
  tokens: KnownTokens | null | undefined;
  errorType: string | null | undefined;
  /** Of the body's bytes; undefined where tollkeeper has to change them, because our key is in them. */
  digest: string | undefined;
}

/** One request as its client knows it. Times are milliseconds of `performance.now()`. */
export interface Sent {
  nonce: string;
  manner: string;
  /** Does it wait for its answer, however long that takes? */
  isStaying: boolean;
  /** Tool named in the path. */
  mark: string | null;
  /** The refusal that has to come, before anything is recorded; null for a request that may pass. */
  mustRefuse: string | null;
  bodyBytes: number;
  bodyDigest: string;
  startedAt: number;
  /** Was every byte of it given to the connection? */
  isSentWhole: boolean;
  /** null while it goes on. */
  endedAt: number | null;
  /** What came back; null when not even a head did. */
  answer: SeenAnswer | null;
}

/** An answer as a client saw it. */
export interface SeenAnswer {
  status: number;
  /** Code of tollkeeper's own refusal, or `BY_NODE`. */
  refusal: string | null;
  bodyBytes: number;
  digest: string;
  /** Did it end as its framing said? */
  isComplete: boolean;
}

/** One request as the upstream knows it. */
export interface Seen {
  nonce: string;
  behaviour: string;
  /** How often it came; more than once is a request sent again. */
  times: number;
  bodyBytes: number;
  /** Digest of a body that came whole. */
  bodyDigest: string | null;
  /** Set once all that a meter needs has left the upstream, whether or not the answer then ended well. */
  truth: Truth | null;
  /** What an answer says that was begun: where it was cut behind its usage, that is known although the rest never came. */
  begun: Truth | null;
  /** How the answer ended, and so may look to the client; "either": HTTP cannot tell. */
  ending: "whole" | "broken" | "either";
  endedAt: number | null;
}

/** What all parties wrote down, and everything that must never happen and did. */
export class Books {
  readonly sent = new Map<string, Sent>();
  readonly seen = new Map<string, Seen>();
  /** When the daemon was killed without warning. */
  readonly killedAt: number[] = [];
  /** From when to when it was stopping. */
  readonly stops: { from: number; to: number }[] = [];
  /** What was done to the daemon and is over. */
  readonly disturbances: string[] = [];
  /** Kind of offence → what was noticed. */
  readonly offences = new Map<string, string[]>();
  readonly #traces = new Map<string, string[]>();
  readonly #startedAt = performance.now();

  /** Adds a line to what is told of a request, or of `daemon`, when something is wrong with it. */
  note(id: string, what: string): void {
    const line = `${(performance.now() - this.#startedAt).toFixed(1).padStart(9)} ms  ${what}`;
    const trace = this.#traces.get(id);
    if (trace === undefined) this.#traces.set(id, [line]);
    else trace.push(line);
  }

  trace(id: string): readonly string[] {
    return this.#traces.get(id) ?? [];
  }

  /** Something that must never happen, whatever the rest of the books says. */
  offend(kind: string, what: string): void {
    const known = this.offences.get(kind) ?? [];
    known.push(what);
    this.offences.set(kind, known);
  }
}
