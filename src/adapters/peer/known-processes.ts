import type { ProcessSignature } from "../../core/identity/signatures.ts";
import type { PeerProcess } from "../../ports.ts";
import type { SocketHolder } from "./open-sockets.ts";
import { describeProcess } from "./describe-process.ts";
import { readExecutable, readStat } from "./process-files.ts";

/** A user rarely works with more than a handful of tools at a time. */
const MAX_KNOWN = 8;
/** Per process: about as many as it has connections to the daemon at a time. */
const MAX_DESCRIPTORS = 8;

/** A process that was found recently. */
interface KnownProcess {
  pid: number;
  /** Identifies the process together with the pid, which can be reused. */
  startedAt: string;
  found: PeerProcess;
  /** Descriptors of its connections to the daemon, most recent first. A freed number is soon reused. */
  descriptors: readonly string[];
}

/** A cache of the processes that were found recently, because a tool opens several connections. */
export class KnownProcesses {
  /** By pid, most recently found last. */
  readonly #known = new Map<number, KnownProcess>();
  readonly #signatures: readonly ProcessSignature[];

  constructor(signatures: readonly ProcessSignature[]) {
    this.#signatures = signatures;
  }

  mostRecentFirst(): KnownProcess[] {
    return [...this.#known.values()].toReversed();
  }

  /**
   * Returns the cached description of the holder; null when there is none, or when the pid now belongs to another process or
   * executable. Does not check an interpreter's script again: that takes a pool thread, and an interpreter that replaces
   * itself by one with another script (execve(2)) is rare.
   */
  recall({ pid, descriptor }: SocketHolder): PeerProcess | null {
    const known = this.#known.get(pid);
    if (known === undefined) return null;
    this.#known.delete(pid);
    if (!isUnchanged(known)) return null;
    const others = known.descriptors.filter((other) => other !== descriptor);
    const descriptors = [descriptor, ...others].slice(0, MAX_DESCRIPTORS);
    this.#known.set(pid, { ...known, descriptors });
    return known.found;
  }

  /** Describes the holder, from the cache if possible; null when it has ended, or its details are not visible. */
  async describe(holder: SocketHolder): Promise<PeerProcess | null> {
    const recalled = this.recall(holder);
    if (recalled !== null) return recalled;
    const { pid, descriptor } = holder;
    const startedAt = readStat(pid)?.startedAt;
    const found = await describeProcess(pid, this.#signatures);
    if (startedAt === undefined || found === null) return null;
    this.#known.set(pid, { pid, startedAt, found, descriptors: [descriptor] });
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MAX_KNOWN) this.#known.delete(oldest);
    return found;
  }
}

function isUnchanged({ pid, startedAt, found }: KnownProcess): boolean {
  return readExecutable(pid) === found.record.executable && readStat(pid)?.startedAt === startedAt;
}
