import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Tasks that must run at the end, after an error, and on Ctrl-C. */
export class Cleanup {
  readonly #tasks: (() => unknown)[] = [];
  #running: Promise<void> | null = null;
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    // The exit code that shells use for a program that a signal ended.
    void this.run().finally(() => process.exit(128 + constants.signals[signal]));
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Adds a task that runs before all earlier ones; at once when the others have already run. */
  after(task: () => unknown): void {
    if (this.#running === null) this.#tasks.push(task);
    else void undo(task);
  }

  /** Runs all tasks once and resolves when they are done. */
  run(): Promise<void> {
    this.#running ??= this.#undoAll();
    return this.#running;
  }

  async #undoAll(): Promise<void> {
    for (const task of this.#tasks.toReversed()) await undo(task);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}

/** Runs a task. A failure does not prevent the others. */
async function undo(task: () => unknown): Promise<void> {
  try {
    await task();
  } catch (error) {
    console.error(`while cleaning up: ${String(error)}`);
  }
}
