import type { PeerProcess } from "../../ports.ts";
import type { Holder } from "./open-sockets.ts";
import { describeProcess } from "./describe-process.ts";
import { executableOf, statOf } from "./process-files.ts";

/** Seldom is more than a handful of tools at work. */
const MOST_KNOWN = 8;
/** Of one process: as many as it has connections to us at a time, mostly. */
const MOST_DESCRIPTORS = 8;

/** A process that was found lately. */
export interface KnownProcess {
  pid: number;
  /** With the pid it is this process's alone. */
  startedAt: string;
  found: PeerProcess;
  /** Where it had connections to us, the latest first: a number that was freed is given out again. */
  descriptors: readonly string[];
}

/** Processes that were found lately: a tool opens several connections, one after the other. */
export class KnownProcesses {
  /** By pid, the one found last at the end. */
  readonly #known = new Map<number, KnownProcess>();

  latestFirst(): KnownProcess[] {
    return [...this.#known.values()].toReversed();
  }

  /**
   * What is known of the process; null when it is another by now, or runs another executable. What an interpreter runs is
   * not asked anew: that takes another thread, and one that puts another script in its own place (execve(2)) is rare.
   */
  recall({ pid, descriptor }: Holder): PeerProcess | null {
    const known = this.#known.get(pid);
    if (known === undefined) return null;
    this.#known.delete(pid);
    if (!isStill(known)) return null;
    const others = known.descriptors.filter((other) => other !== descriptor);
    const descriptors = [descriptor, ...others].slice(0, MOST_DESCRIPTORS);
    this.#known.set(pid, { ...known, descriptors });
    return known.found;
  }

  /** Looks into the process unless it is known; null when it has gone meanwhile, or may not be looked into. */
  async lookInto(holder: Holder): Promise<PeerProcess | null> {
    const recalled = this.recall(holder);
    if (recalled !== null) return recalled;
    const { pid, descriptor } = holder;
    const startedAt = statOf(pid)?.startedAt;
    const found = await describeProcess(pid);
    if (startedAt === undefined || found === null) return null;
    this.#known.set(pid, { pid, startedAt, found, descriptors: [descriptor] });
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MOST_KNOWN) this.#known.delete(oldest);
    return found;
  }
}

function isStill({ pid, startedAt, found }: KnownProcess): boolean {
  return executableOf(pid) === found.record.executable && statOf(pid)?.startedAt === startedAt;
}
