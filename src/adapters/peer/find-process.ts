import { setImmediate, setTimeout } from "node:timers/promises";
import type { ProcessSignature } from "../../core/identity/signatures.ts";
import type { PeerProcess, ProcessQuery } from "../../ports.ts";
import { socketLink } from "../socket-table.ts";
import type { SocketOwner } from "./find-socket-rows.ts";
import { KnownProcesses } from "./known-processes.ts";
import { moveToParents, searchAll, searchProcess, type HolderBySocket } from "./open-sockets.ts";
import { SocketQuery } from "./socket-query.ts";
import { StepAllowance } from "./step-allowance.ts";

// A step looks at one open file of one process, in about 5 µs. Most processes have some 25.

/** In the background, between two turns of the event loop. */
const STEPS_PER_SLICE = 100;
/** On a machine with more to search, some holders are not found. */
const MAX_STEPS = 50_000;
/** Among the files of the known processes, before a record is written. */
const MAX_STEPS_IN_KNOWN = 512;
/** Of one of them. */
const MAX_FILES_OF_KNOWN = 256;
/** Among the files of the newest processes, before a record is written, once per connection. */
const MAX_STEPS_IN_NEWEST = 250;

/** A tenth of one CPU in the long run, and at first as much as an idle machine needs for a few hundred processes. */
const ALLOWANCE = { perMs: 20, burst: 10_000 };
/** A search that finds nothing counts as many times: perhaps all processes hide their files from this user. */
const COST_OF_NOTHING = 10;

/**
 * Finds the process that holds a socket: first among the processes that were found recently, then among all of the socket's
 * user, newest first. One search runs at a time, in the background, for all queries that arrived before it.
 */
export class ProcessSearch {
  readonly #known: KnownProcesses;
  readonly #allowance = new StepAllowance(ALLOWANCE);
  #waiting: SocketQuery[] = [];
  #isSearching = false;

  constructor(signatures: readonly ProcessSignature[]) {
    this.#known = new KnownProcesses(signatures);
  }

  /** Starts a search, which ends without a result when no holder is found, or once `isOver` returns true. */
  start({ inode, uid }: SocketOwner, { isOver }: ProcessQuery): SocketQuery {
    const query = new SocketQuery(socketLink(inode), uid, this.#known.latest, isOver);
    this.#waiting.push(query);
    if (!this.#isSearching) void this.#search();
    return query;
  }

  /**
   * Returns what the query has found. While it has found nothing, looks at once among the known processes, and the first time
   * among a few of the newest: a tool's first request often comes right after its start.
   */
  recall(query: SocketQuery): PeerProcess | null {
    const { latest } = this.#known;
    if (query.isWanted && query.comparedTo < latest) {
      runAtOnce(this.#searchKnown([query], MAX_FILES_OF_KNOWN), MAX_STEPS_IN_KNOWN);
      query.comparedTo = latest;
    }
    if (query.isWanted && !query.isRecalled && this.#allowance.waitMs === 0)
      this.#allowance.take(runAtOnce(this.#searchAll([query]), MAX_STEPS_IN_NEWEST));
    query.isRecalled = true;
    return query.found;
  }

  async #search(): Promise<void> {
    this.#isSearching = true;
    while (this.#waiting.length > 0) {
      // Lets the connection's first request go first: it is read in the next turn.
      await setImmediate();
      await setImmediate();
      const queries = this.#waiting;
      this.#waiting = [];
      let steps = await runInSlices(this.#searchKnown(queries), STEPS_PER_SLICE, MAX_STEPS);
      if (queries.some(({ isWanted }) => isWanted))
        steps += await runInSlices(this.#searchAll(queries), STEPS_PER_SLICE, MAX_STEPS);
      // A connection that has ended proves nothing: health checks often end before their process is found.
      const isInVain =
        queries.every(({ found }) => found === null) && queries.some(({ isWanted }) => isWanted);
      for (const query of queries) query.giveUp();
      this.#allowance.take(isInVain ? steps * COST_OF_NOTHING : steps);
      const { waitMs } = this.#allowance;
      if (waitMs > 0) await setTimeout(waitMs, null, { ref: false });
    }
    this.#isSearching = false;
  }

  /** Looks for the sockets in each known process that they were not compared with yet. */
  *#searchKnown(queries: readonly SocketQuery[], maxFiles = Infinity): Steps {
    const { latest } = this.#known;
    const comparedTo = Math.min(...queries.map((query) => query.comparedTo));
    const knownAtStart = Math.min(...queries.map((query) => query.knownAtStart));
    for (const { pid, number, descriptors } of this.#known.foundAfter(comparedTo)) {
      const wanted = queries.filter(({ isWanted }) => isWanted);
      if (wanted.length === 0) return;
      const holders: HolderBySocket = new Map();
      const sockets = new Set(wanted.map(({ socket }) => socket));
      yield* searchProcess(pid, sockets, holders, { likely: descriptors, maxFiles });
      // A process that was known before the socket was opened cannot have inherited it.
      if (holders.size > 0 && number > knownAtStart) yield* moveToParents(pid, holders);
      this.#take(wanted, holders);
    }
    for (const query of queries) query.comparedTo = latest;
  }

  #searchAll(queries: readonly SocketQuery[]): Steps {
    return searchAll(queries, (wanted, holders) => this.#take(wanted, holders));
  }

  /** Each process is examined once for all of its sockets. */
  #take(queries: readonly SocketQuery[], holders: HolderBySocket): void {
    for (const pid of new Set([...holders.values()].map((holder) => holder.pid))) {
      const found = queries.flatMap((query) => {
        const holder = holders.get(query.socket);
        return holder?.pid === pid ? [{ query, descriptor: holder.descriptor }] : [];
      });
      const process = this.#known.take(
        pid,
        found.map(({ descriptor }) => descriptor),
      );
      if (process !== null) for (const { query } of found) query.take(process);
    }
  }
}

/** Work that is done in many small steps of about the same length. */
type Steps = Generator<void, void>;

/**
 * Does at most `maxSteps` steps of the work, in slices of `sliceSteps`, and yields to the event loop between them. Resolves to
 * the number of steps. Counts steps and not time: on a busy machine most of the time that passes is other programs'.
 */
async function runInSlices(work: Steps, sliceSteps: number, maxSteps: number): Promise<number> {
  let done = 0;
  for (;;) {
    const slice = Math.min(sliceSteps, maxSteps - done);
    const steps = advance(work, slice);
    done += steps;
    if (steps < slice || done === maxSteps) break;
    await setImmediate();
  }
  end(work);
  return done;
}

/** Does at most `maxSteps` steps of the work at once. Returns the number of steps. */
function runAtOnce(work: Steps, maxSteps: number): number {
  const done = advance(work, maxSteps);
  end(work);
  return done;
}

function advance(work: Steps, steps: number): number {
  for (let done = 0; done < steps; done += 1) if (work.next().done === true) return done;
  return steps;
}

/** Runs the work's `finally` blocks, which close a directory. */
function end(work: Steps): void {
  work.return();
}
