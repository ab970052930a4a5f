import { fork, type ChildProcess, type Serializable } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A child process of the benchmark, which ends with it. */
export class Worker {
  readonly #child: ChildProcess;

  /** @param file a module in this folder */
  constructor(file: string) {
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), { serialization: "advanced" });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  send(message: Serializable): void {
    this.#child.send(message);
  }

  /** Resolves with the next message. Rejects when the process ends before. */
  async next(): Promise<unknown> {
    const over = new AbortController();
    const received = once(this.#child, "message", { signal: over.signal }).then(
      ([message]) => message as unknown,
    );
    const ended = once(this.#child, "exit", { signal: over.signal }).then(() => {
      throw new Error(`a process of the bench has ended: ${this.#child.spawnargs.join(" ")}`);
    });
    try {
      return await Promise.race([received, ended]);
    } finally {
      over.abort();
      await Promise.allSettled([received, ended]);
    }
  }

  /** Ends the process and resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}
