/** A command that takes less shows no progress. */
const PATIENCE_MS = 500;
const CELLS = 30;

/** Shows on standard error, if that is a terminal, how much of something that takes long is done. */
export class ProgressBar {
  readonly #label: string;
  readonly #startedAt = performance.now();
  #isShown = false;

  constructor(label: string) {
    this.#label = label;
  }

  /** Shows the share that is done, from 0 to 1. */
  update(share: number): void {
    if (!process.stderr.isTTY || performance.now() - this.#startedAt < PATIENCE_MS) return;
    this.#isShown = true;
    const cells = Math.round(share * CELLS);
    const bar = "█".repeat(cells) + "░".repeat(CELLS - cells);
    process.stderr.write(`\r${this.#label} ${bar} ${String(Math.round(100 * share)).padStart(3)}%`);
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isShown) process.stderr.write("\r\u001b[2K");
  }
}
