import { percentilesOf } from "../../src/check/overhead.ts";
import { Connection } from "./connection.ts";
import type { Load, Outcome } from "./load.ts";
import { buildRequest, SMALL_BODY_BYTES } from "./request.ts";

const MAX_FAULTS = 5;
/** Connections that are opened at once: fewer than any listen backlog. */
const WAVE = 100;

/**
 * Runs a load to its end. Kept connections are opened and have carried a request each before `onReady` is waited for;
 * the load begins after it. Never rejects: what goes wrong is a fault of the outcome.
 */
export async function runLoad(load: Load, onReady: () => Promise<void>): Promise<Outcome> {
  const run = new LoadRun(load);
  const first = load.isFresh ? [] : await openAll(run);
  await onReady();
  run.start();
  await Promise.all(
    Array.from({ length: load.connections }, (_, at) => goOn(run, first[at] ?? new Connection(run))),
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

/** Works on one connection, and on one after another where each takes one request only, or is closed while idle. */
async function goOn(run: LoadRun, first: Connection): Promise<void> {
  for (let connection = first; ; connection = new Connection(run)) {
    await connection.opened;
    connection.work();
    await connection.closed;
    if (connection.isLast || run.isOver) return;
  }
}

/** What all connections of a load share: what is left to do, and what came of it. */
export class LoadRun {
  readonly load: Load;
  /** As it goes over the wire, every time the same. */
  readonly request: Buffer;
  /** The first request of a kept connection. */
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
    this.primer = buildRequest(load.port, { ...load, answer: "json", bodyBytes: SMALL_BODY_BYTES });
  }

  /** The load's time begins. */
  start(): void {
    this.#startedAt = performance.now();
  }

  /** May one more request be sent? It counts as sent. */
  begin(): boolean {
    if (this.isOver) return false;
    this.#begun += 1;
    return true;
  }

  /** Is no more request to be sent? */
  get isOver(): boolean {
    const { requests, forMs } = this.load;
    return this.#begun >= requests || performance.now() - this.#startedAt >= forMs;
  }

  /** A request was answered rightly, just now. Times of `performance.now()`. */
  done(sentAt: number, firstByteAt: number, bodyBytes: number): void {
    this.#firstByteUs.push((firstByteAt - sentAt) * 1_000);
    this.#wholeUs.push((performance.now() - sentAt) * 1_000);
    this.#bodyBytes += bodyBytes;
  }

  fail(fault: string): void {
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }

  outcome(): Outcome {
    const missing = this.#begun - this.#wholeUs.length;
    if (missing > 0) this.#faults.push(`${missing} of ${this.#begun} requests without a right answer`);
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
