import { percentilesOf } from "../../src/check/overhead.ts";
import { Connection } from "./connection.ts";
import type { Load, Outcome } from "./load.ts";
import { buildRequest, SMALL_BODY_BYTES } from "./request.ts";

const MAX_FAULTS = 5;
/** Connections that are opened at once: fewer than any listen backlog. */
const WAVE = 100;

/**
 * Runs a load to its end. First opens the persistent connections and sends one request on each, then waits for `onReady`. Never
 * rejects: whatever goes wrong is a fault in the outcome.
 */
export async function runLoad(load: Load, onReady: () => Promise<void>): Promise<Outcome> {
  const run = new LoadRun(load);
  const first = load.isFresh ? [] : await openAll(run);
  await onReady();
  run.start();
  await Promise.all(
    Array.from({ length: load.connections }, (_, at) =>
      runConnections(run, first[at] ?? new Connection(run)),
    ),
  );
  return run.outcome();
}

async function openAll(run: LoadRun): Promise<Connection[]> {
  const all: Connection[] = [];
  while (all.length < run.load.connections) {
    const size = Math.min(WAVE, run.load.connections - all.length);
    const wave = Array.from({ length: size }, () => new Connection(run));
    await Promise.all(
      wave.map(async (connection) => {
        await connection.opened;
        await connection.prime();
      }),
    );
    all.push(...wave);
  }
  return all;
}

/** Sends requests on one connection, or on one after another when each takes a single request or is closed while idle. */
async function runConnections(run: LoadRun, first: Connection): Promise<void> {
  for (let connection = first; ; connection = new Connection(run)) {
    await connection.opened;
    connection.work();
    await connection.closed;
    if (connection.isLast || run.isOver) return;
  }
}

/** The state that all connections of a load share: what is left to do, and the results. */
export class LoadRun {
  readonly load: Load;
  /** The bytes of every request. */
  readonly request: Buffer;
  /** The first request on a persistent connection. */
  readonly primer: Buffer;
  /** Delays of single events, microseconds. */
  readonly delayUs: number[] = [];
  readonly #firstByteUs: number[] = [];
  readonly #wholeUs: number[] = [];
  readonly #faults: string[] = [];
  #startedAt = 0;
  #begun = 0;
  #bodyBytes = 0;

  constructor(load: Load) {
    this.load = load;
    this.request = buildRequest(load.port, load);
    this.primer = buildRequest(load.port, { ...load, response: "json", bodyBytes: SMALL_BODY_BYTES });
  }

  /** Starts the time of the load. */
  start(): void {
    this.#startedAt = performance.now();
  }

  /** Returns true when one more request may be sent, and counts it. */
  startRequest(): boolean {
    if (this.isOver) return false;
    this.#begun += 1;
    return true;
  }

  /** True when no more requests are sent. */
  get isOver(): boolean {
    const { requests, forMs } = this.load;
    return this.#begun >= requests || performance.now() - this.#startedAt >= forMs;
  }

  /** Records a request whose correct response has just ended. Times are `performance.now()`. */
  finishRequest(sentAt: number, firstByteAt: number, bodyBytes: number): void {
    this.#firstByteUs.push((firstByteAt - sentAt) * 1_000);
    this.#wholeUs.push((performance.now() - sentAt) * 1_000);
    this.#bodyBytes += bodyBytes;
  }

  fail(fault: string): void {
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }

  outcome(): Outcome {
    const missing = this.#begun - this.#wholeUs.length;
    if (missing > 0) this.#faults.push(`${missing} of ${this.#begun} requests without a correct response`);
    return {
      requests: this.#wholeUs.length,
      faults: this.#faults,
      seconds: (performance.now() - this.#startedAt) / 1_000,
      bodyBytes: this.#bodyBytes,
      firstByteUs: percentilesOf(this.#firstByteUs),
      wholeUs: percentilesOf(this.#wholeUs),
      delayUs: percentilesOf(this.delayUs),
    };
  }
}
