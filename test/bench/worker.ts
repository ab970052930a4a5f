import { fork, type ChildProcess, type Serializable } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of the bench's own, which ends with the bench. */
export class Worker {
  readonly #child: ChildProcess;

  /** `file`: a module in this folder. */
  constructor(file: string) {
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), { serialization: "advanced" });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  send(message: Serializable): void {
    this.#child.send(message);
  }

  /** The next thing that it says. Rejects when it ends before. */
  async next(): Promise<unknown> {
    const over = new AbortController();
    const said = once(this.#child, "message", { signal: over.signal }).then(
      ([message]) => message as unknown,
    );
    const ended = once(this.#child, "exit", { signal: over.signal }).then(() => {
      throw new Error(`a process of the bench has ended: ${this.#child.spawnargs.join(" ")}`);
    });
    try {
      return await Promise.race([said, ended]);
    } finally {
      over.abort();
      await Promise.allSettled([said, ended]);
    }
  }

  /** Ends it; resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}
