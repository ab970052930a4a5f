import type { ProcessSignature } from "../../core/identity/signatures.ts";
import { describeProcess, type DescribedProcess } from "./describe-process.ts";
import { readExecutable, readStat } from "./process-files.ts";

/** A user rarely works with more than a handful of tools at a time. */
const MAX_KNOWN = 16;
/** Per process: about as many as it has connections to the daemon at a time. */
const MAX_DESCRIPTORS = 8;

/** A process that was found recently. */
interface KnownProcess extends DescribedProcess {
  pid: number;
  /** Identifies the process together with the pid, which can be reused. */
  startedAt: string;
  /** Order in which it was found, among all processes that were ever found. */
  number: number;
  /** Descriptors of its connections to the daemon, most recent first. A freed number is soon reused. */
  descriptors: readonly string[];
}

/** A cache of the processes that were found recently, because a tool opens several connections. */
export class KnownProcesses {
  /** By pid, most recently found last. */
  readonly #known = new Map<number, KnownProcess>();
  readonly #signatures: readonly ProcessSignature[];
  #latest = 0;

  constructor(signatures: readonly ProcessSignature[]) {
    this.#signatures = signatures;
  }

  /** Number of the process found last; 0 before the first. */
  get latest(): number {
    return this.#latest;
  }

  /**
   * Returns the processes with a higher number than this that are still what they were, most recently found first. An
   * interpreter's script is not checked again: that takes a pool thread, and an interpreter that replaces itself by one with
   * another script (execve(2)) is rare.
   */
  *foundAfter(number: number): Generator<KnownProcess, void> {
    for (const known of [...this.#known.values()].toReversed()) {
      if (known.number <= number) continue;
      if (isUnchanged(known)) yield known;
      else this.#known.delete(known.pid);
    }
  }

  /**
   * Returns a process's description: the cached one if there is one; null when it has ended, or its details are hidden.
   * @param found the descriptors of its connections that were found
   */
  take(pid: number, found: readonly string[]): KnownProcess | null {
    const known = this.#known.get(pid);
    const current = known !== undefined && isUnchanged(known) ? known : this.#describe(pid);
    this.#known.delete(pid);
    if (current === null) return null;
    const others = current.descriptors.filter((other) => !found.includes(other));
    const taken = { ...current, descriptors: [...found, ...others].slice(0, MAX_DESCRIPTORS) };
    this.#known.set(pid, taken);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MAX_KNOWN) this.#known.delete(oldest);
    return taken;
  }

  #describe(pid: number): KnownProcess | null {
    const startedAt = readStat(pid)?.startedAt;
    const described = describeProcess(pid, this.#signatures);
    if (startedAt === undefined || described === null) return null;
    this.#latest += 1;
    return { ...described, pid, startedAt, number: this.#latest, descriptors: [] };
  }
}

function isUnchanged({ pid, startedAt, found }: KnownProcess): boolean {
  return readExecutable(pid) === found.record.executable && readStat(pid)?.startedAt === startedAt;
}
