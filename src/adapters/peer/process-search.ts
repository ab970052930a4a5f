import { readdir } from "node:fs/promises";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ProcessSignature } from "../../core/identity/signatures.ts";
import type { PeerProcess } from "../../ports.ts";
import { socketLink } from "../socket-table.ts";
import type { SocketOwner } from "./find-owners.ts";
import { KnownProcesses } from "./known-processes.ts";
import { searchAll, searchProcess, type HolderBySocket } from "./open-sockets.ts";
import { runInSlices } from "./run-in-slices.ts";

/** A step takes about 5 µs. On a machine with more to search, some holders are not found. */
const MAX_STEPS = 50_000;
/** Per known process: the likely descriptors, and as many as most tools have. The search of all processes finds the rest. */
const MAX_STEPS_PER_KNOWN = 64;
/** After a search, the next of its kind waits this many times as long as it took, which limits it to 10 % of one CPU. */
const PAUSE_FACTOR = 9;
/** The same after a search of all processes found nothing: perhaps they all hide their open files from this user. */
const LONG_PAUSE_FACTOR = 99;

interface Query {
  /** As {@link socketLink} spells it. */
  socket: string;
  uid: number;
  isOver(): boolean;
  resolve(found: PeerProcess | null): void;
}

/**
 * Finds the process that holds a socket. Searches the processes that were found recently, in about 0.1 ms, then all of the
 * socket's user, newest first, in about 0.1 ms each. One search of each kind runs at a time, and serves all queries that
 * arrived before it.
 */
export class ProcessSearch {
  readonly #known: KnownProcesses;
  /** Not yet searched for. */
  #fresh: Query[] = [];
  /** Not found in the known processes. */
  #missing: Query[] = [];
  #isSearchingKnown = false;
  #isSearchingAll = false;

  constructor(signatures: readonly ProcessSignature[]) {
    this.#known = new KnownProcesses(signatures);
  }

  /** Resolves to null when no holder is found, or once `isOver` returns true. */
  find({ inode, uid }: SocketOwner, isOver: () => boolean): Promise<PeerProcess | null> {
    return new Promise((resolve) => {
      this.#fresh.push({ socket: socketLink(inode), uid, isOver, resolve });
      if (!this.#isSearchingKnown) void this.#searchKnown();
    });
  }

  async #searchKnown(): Promise<void> {
    this.#isSearchingKnown = true;
    while (this.#fresh.length > 0) {
      // Lets pending work go first, such as the connection's first request.
      await setImmediate();
      const queries = dropOver(this.#fresh);
      this.#fresh = [];
      const workedMs = await this.#resolveFromKnown(queries);
      if (!this.#isSearchingAll) void this.#searchAll();
      await setTimeout(workedMs * PAUSE_FACTOR, null, { ref: false });
    }
    this.#isSearchingKnown = false;
  }

  /**
   * Resolves the queries whose socket a known process holds; the others go to `#missing`. Returns the CPU time it took, in
   * milliseconds. The parents need no search here: a process that was known before the socket was opened cannot have
   * inherited it.
   */
  async #resolveFromKnown(queries: readonly Query[]): Promise<number> {
    let workedMs = 0;
    let open = queries;
    for (const { pid, descriptors } of this.#known.mostRecentFirst()) {
      open = dropOver(open);
      if (open.length === 0) return workedMs;
      const holders: HolderBySocket = new Map();
      const search = searchProcess(pid, socketsOf(open), holders, descriptors);
      workedMs += await runInSlices(search, MAX_STEPS_PER_KNOWN);
      open = open.filter((query) => !this.#resolveIfKnown(query, holders));
    }
    this.#missing.push(...open);
    return workedMs;
  }

  /** Resolves the query and returns true when the socket's holder was found and is still the known process. */
  #resolveIfKnown({ socket, resolve }: Query, holders: HolderBySocket): boolean {
    const holder = holders.get(socket);
    const found = holder === undefined ? null : this.#known.recall(holder);
    if (found !== null) resolve(found);
    return found !== null;
  }

  async #searchAll(): Promise<void> {
    this.#isSearchingAll = true;
    for (;;) {
      const queries = dropOver(this.#missing);
      this.#missing = [];
      if (queries.length === 0) break;
      const uids = new Set(queries.map(({ uid }) => uid));
      const holders: HolderBySocket = new Map();
      const search = searchAll(await listProcesses(), uids, socketsOf(queries), holders);
      const workedMs = await runInSlices(search, MAX_STEPS);
      for (const { socket, resolve } of queries) {
        const holder = holders.get(socket);
        resolve(holder === undefined ? null : await this.#known.describe(holder));
      }
      // A connection that has ended proves nothing: health checks are often over before their process is found.
      const isInVain = holders.size === 0 && queries.some(({ isOver }) => !isOver());
      const factor = isInVain ? LONG_PAUSE_FACTOR : PAUSE_FACTOR;
      await setTimeout(workedMs * factor, null, { ref: false });
    }
    this.#isSearchingAll = false;
  }
}

function socketsOf(queries: readonly Query[]): Set<string> {
  return new Set(queries.map(({ socket }) => socket));
}

/** Resolves the queries that are over to null and returns the others. */
function dropOver(queries: readonly Query[]): Query[] {
  return queries.filter((query) => {
    const isOver = query.isOver();
    if (isOver) query.resolve(null);
    return !isOver;
  });
}

/** Resolves to the pids of all visible processes, newest first until pids wrap around. */
async function listProcesses(): Promise<number[]> {
  try {
    const names = await readdir("/proc");
    return names
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .toReversed();
  } catch {
    return [];
  }
}
