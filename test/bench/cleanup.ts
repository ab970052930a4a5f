import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What has to be undone whatever happens: at the end, after a fault, on Ctrl-C. */
export class Cleanup {
  readonly #tasks: (() => unknown)[] = [];
  #running: Promise<void> | null = null;
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    // The way of shells to say which signal ended a program.
    void this.run().finally(() => process.exit(128 + constants.signals[signal]));
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Adds what is to be undone before everything that was added earlier. What comes too late is undone at once. */
  after(task: () => unknown): void {
    if (this.#running === null) this.#tasks.push(task);
    else void undo(task);
  }

  /** Undoes all of it, once; resolves when that is done. */
  run(): Promise<void> {
    this.#running ??= this.#undoAll();
    return this.#running;
  }

  async #undoAll(): Promise<void> {
    for (const task of this.#tasks.toReversed()) await undo(task);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}

/** A task that fails does not keep the others from being done. */
async function undo(task: () => unknown): Promise<void> {
  try {
    await task();
  } catch (error) {
    console.error(`while cleaning up: ${String(error)}`);
  }
}
