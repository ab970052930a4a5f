import { readdir } from "node:fs/promises";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { PeerProcess } from "../../ports.ts";
import { inSlices } from "./in-slices.ts";
import type { SocketOwner } from "./kernel-table.ts";
import { KnownProcesses } from "./known-processes.ts";
import { nameOfSocket, searchAll, searchProcess, type Holders } from "./open-sockets.ts";

/** A step takes some 5 µs. Where there is more than this to look at, less is found. */
const MOST_STEPS = 50_000;
/** In a process that is known: the likely descriptors, and as many as most tools have. The look at all finds the rest. */
const MOST_STEPS_IN_KNOWN = 64;
/** After a search, so many times as long none of its kind: a tenth of a processor is for it at most. */
const REST_FACTOR = 9;
/** After one of all processes in vain: there may be nothing to be seen from here at all. */
const LONG_REST_FACTOR = 99;

interface Question {
  socket: string;
  uid: number;
  isOver(): boolean;
  answer(found: PeerProcess | null): void;
}

/**
 * Finds the process that holds a socket. First among the processes found lately, which takes some 0.1 ms; then among all of
 * that user's, the newest first, some 0.1 ms for each. One search of each kind at a time; the next is for all who wait by
 * then.
 */
export class ProcessSearch {
  readonly #known = new KnownProcesses();
  #fresh: Question[] = [];
  #missing: Question[] = [];
  #isSearchingKnown = false;
  #isSearchingAll = false;

  /** null where nobody is found who holds it, and when `isOver` says that nobody wants to know any more. */
  find({ inode, uid }: SocketOwner, isOver: () => boolean): Promise<PeerProcess | null> {
    return new Promise((answer) => {
      this.#fresh.push({ socket: nameOfSocket(inode), uid, isOver, answer });
      if (!this.#isSearchingKnown) void this.#searchKnown();
    });
  }

  async #searchKnown(): Promise<void> {
    this.#isSearchingKnown = true;
    while (this.#fresh.length > 0) {
      // After what is due by now: the connection's first request, for one.
      await setImmediate();
      const asked = dropOver(this.#fresh);
      this.#fresh = [];
      const workedMs = await this.#askKnown(asked);
      if (!this.#isSearchingAll) void this.#searchAll();
      await setTimeout(workedMs * REST_FACTOR, null, { ref: false });
    }
    this.#isSearchingKnown = false;
  }

  /**
   * Answers what the known processes can answer; the rest is missing. Resolves to the time that it took of the processor. A
   * process that was known before the socket was opened cannot have it from its parent: whoever holds it here is who
   * opened it.
   */
  async #askKnown(asked: readonly Question[]): Promise<number> {
    let workedMs = 0;
    let open = asked;
    for (const { pid, descriptors } of this.#known.latestFirst()) {
      open = dropOver(open);
      if (open.length === 0) return workedMs;
      const holders: Holders = new Map();
      const search = searchProcess(pid, socketsOf(open), holders, descriptors);
      workedMs += await inSlices(search, MOST_STEPS_IN_KNOWN);
      open = open.filter((question) => !this.#recall(question, holders));
    }
    this.#missing.push(...open);
    return workedMs;
  }

  /** Answers the question when its socket's holder was found, and is still what it was; false when it is not. */
  #recall({ socket, answer }: Question, holders: Holders): boolean {
    const holder = holders.get(socket);
    const found = holder === undefined ? null : this.#known.recall(holder);
    if (found !== null) answer(found);
    return found !== null;
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
      // That who has left is not found says nothing: health checks are over before they can be.
      const isInVain = holders.size === 0 && asked.some(({ isOver }) => !isOver());
      const factor = isInVain ? LONG_REST_FACTOR : REST_FACTOR;
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
