import type { Outcome, UsageState } from "../../src/core/usage/reading.ts";

/** Token counts that the upstream generated. */
export interface KnownTokens {
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
}

/** What the client must receive and the ledger must record of a complete response. Undefined fields are not checked. */
export interface ExpectedResponse {
  status: number;
  outcome: Outcome;
  usage: UsageState | undefined;
  responseId: string | null | undefined;
  tokens: KnownTokens | null | undefined;
  errorType: string | null | undefined;
  /** Digest of the body; undefined where tollkeeper must redact the key in it. */
  digest: string | undefined;
}

/** One request as its client knows it. Times are `performance.now()`, in milliseconds. */
export interface SentRequest {
  nonce: string;
  behaviour: string;
  /** True when the client waits for the response, however long it takes. */
  isWaiting: boolean;
  /** Tool named in the path. */
  mark: string | null;
  /** The refusal that the request must get before anything is recorded; null for a request that may pass. */
  expectedRefusal: string | null;
  bodyBytes: number;
  bodyDigest: string;
  startedAt: number;
  /** True when every byte was written to the connection. */
  isSentCompletely: boolean;
  /** null while the exchange lasts. */
  endedAt: number | null;
  /** The response; null when not even its head arrived. */
  response: ObservedResponse | null;
}

/** A response as its client received it. */
export interface ObservedResponse {
  status: number;
  /** Code of tollkeeper's own refusal, or `BY_NODE`. */
  refusal: string | null;
  bodyBytes: number;
  digest: string;
  /** True when it ended as its framing said. */
  isComplete: boolean;
}

/** One request as the upstream knows it. */
export interface ReceivedRequest {
  nonce: string;
  behaviour: string;
  /** When its head arrived. */
  receivedAt: number;
  /** How often it arrived. More than once means that it was sent again. */
  times: number;
  bodyBytes: number;
  /** Digest of a complete body. */
  bodyDigest: string | null;
  /** Set once everything that a meter needs was sent, whether or not the response then ended well. */
  expected: ExpectedResponse | null;
  /** What is expected of a response that was begun. When it is cut after its usage, the usage is known although the rest is missing. */
  expectedIfCut: ExpectedResponse | null;
  /** How the response ended, and so may look to the client. "either": HTTP cannot tell. */
  ending: "complete" | "truncated" | "either";
  endedAt: number | null;
}

/** What all parties observed, and all violations of rules that always hold. */
export class Observations {
  readonly sent = new Map<string, SentRequest>();
  readonly received = new Map<string, ReceivedRequest>();
  /** When the daemon was killed without warning. */
  readonly killedAt: number[] = [];
  /** The intervals in which it was stopping. */
  readonly stops: { from: number; to: number }[] = [];
  /** Completed disturbances of the daemon. */
  readonly disturbances: string[] = [];
  /** The kind of violation, and each case of it. */
  readonly violations = new Map<string, string[]>();
  readonly #traces = new Map<string, string[]>();
  readonly #startedAt = performance.now();

  /** Adds a line to the trace of a request, or of `daemon`, which is printed when something is wrong with it. */
  note(id: string, what: string): void {
    const line = `${(performance.now() - this.#startedAt).toFixed(1).padStart(9)} ms  ${what}`;
    const trace = this.#traces.get(id);
    if (trace === undefined) this.#traces.set(id, [line]);
    else trace.push(line);
  }

  trace(id: string): readonly string[] {
    return this.#traces.get(id) ?? [];
  }

  /** Reports something that must never happen, whatever the other observations say. */
  reportViolation(kind: string, what: string): void {
    const known = this.violations.get(kind) ?? [];
    known.push(what);
    this.violations.set(kind, known);
  }
}
