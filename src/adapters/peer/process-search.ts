import { readdir } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import type { PeerProcess } from "../../ports.ts";
import { inSlices } from "./in-slices.ts";
import type { SocketOwner } from "./kernel-table.ts";
import { KnownProcesses } from "./known-processes.ts";
import { nameOfSocket, searchAll, searchProcess, type Holders } from "./open-sockets.ts";

/** A step takes some 5 µs. Where there is more than this to look at, less is found. */
const MOST_STEPS = 50_000;
/** After a look at all processes, so many times as long nothing of the kind: a tenth of a processor is for it at most. */
const REST_FACTOR = 9;
/** After one in vain: there may be nothing to be seen from here at all. */
const LONG_REST_FACTOR = 99;

interface Question {
  socket: string;
  uid: number;
  isOver(): boolean;
  answer(found: PeerProcess | null): void;
}

/**
 * Finds the process that holds a socket. First among the processes found lately, which takes some 0.1 ms; then among all of
 * that user's, the newest first, some 0.1 ms for each. One search is for all who wait by then.
 */
export class ProcessSearch {
  readonly #known = new KnownProcesses();
  #fresh: Question[] = [];
  #missing: Question[] = [];
  #isSearchingAll = false;

  /** null where nobody is found who holds it, and when `isOver` says that nobody wants to know any more. */
  find({ inode, uid }: SocketOwner, isOver: () => boolean): Promise<PeerProcess | null> {
    return new Promise((answer) => {
      // After what is due by now: the connection's first request, for one.
      if (this.#fresh.length === 0) setImmediate(() => void this.#searchKnown());
      this.#fresh.push({ socket: nameOfSocket(inode), uid, isOver, answer });
    });
  }

  /**
   * A process that was known before the socket was opened cannot have it from its parent: whoever holds it here is who
   * opened it.
   */
  async #searchKnown(): Promise<void> {
    const asked = dropOver(this.#fresh);
    this.#fresh = [];
    const wanted = socketsOf(asked);
    const holders: Holders = new Map();
    for (const { pid, descriptors } of this.#known.latestFirst()) {
      if (wanted.size === 0) break;
      await inSlices(searchProcess(pid, wanted, holders, descriptors), MOST_STEPS);
      for (const socket of holders.keys()) wanted.delete(socket);
    }
    for (const question of asked) {
      const holder = holders.get(question.socket);
      const found = holder === undefined ? null : this.#known.recall(holder);
      if (found === null) this.#missing.push(question);
      else question.answer(found);
    }
    if (!this.#isSearchingAll) void this.#searchAll();
  }

  async #searchAll(): Promise<void> {
    this.#isSearchingAll = true;
    for (;;) {
      const asked = dropOver(this.#missing);
      this.#missing = [];
      if (asked.length === 0) break;
      const uids = new Set(asked.map(({ uid }) => uid));
      const holders: Holders = new Map();
      const search = searchAll(await listProcesses(), uids, socketsOf(asked), holders);
      const workedMs = await inSlices(search, MOST_STEPS);
      for (const { socket, answer } of asked) {
        const holder = holders.get(socket);
        answer(holder === undefined ? null : await this.#known.lookInto(holder));
      }
      const factor = holders.size > 0 ? REST_FACTOR : LONG_REST_FACTOR;
      await setTimeout(workedMs * factor, null, { ref: false });
    }
    this.#isSearchingAll = false;
  }
}

function socketsOf(questions: readonly Question[]): Set<string> {
  return new Set(questions.map(({ socket }) => socket));
}

/** Those that are still asked; the others have their answer. */
function dropOver(questions: readonly Question[]): Question[] {
  return questions.filter((question) => {
    const isOver = question.isOver();
    if (isOver) question.answer(null);
    return !isOver;
  });
}

/** Every process that is shown, the newest first as long as their numbers have not begun anew. */
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
