// Reports a test run in few lines: one per folder, every failure in full, the reasons for skipped tests, and the totals.
import type { FileResult, RunningFile } from "./run-file.ts";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The files of a folder that have not ended, and the tests of those that have. */
interface Folder extends Counts {
  left: number;
}

/** A file that runs for longer is named with its time. */
const LONG_S = 30;

/** How many of the slowest files are named. */
const NAMED = 8;

/** Turns the results of test files into text. */
export class RunReport {
  readonly #total: Counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #reasons = new Map<string, number>();
  readonly #folders = new Map<string, Folder>();
  readonly #times: { file: string; seconds: number }[] = [];
  readonly #startedAt = performance.now();
  readonly #files: number;

  /** @param files names below `test` */
  constructor(files: readonly string[]) {
    this.#files = files.length;
    for (const file of files) this.#folderOf(file).left += 1;
  }

  /** A run passes when a test has passed and none has failed. */
  hasPassed(): boolean {
    return this.#total.failed === 0 && this.#total.passed > 0;
  }

  /** Returns the text about a file that has ended: its failures, and the totals of its folder when it was the last. */
  onEnd(file: string, { passed, failures, skipped, output, seconds }: FileResult): string {
    const folder = this.#folderOf(file);
    for (const counts of [folder, this.#total]) {
      counts.passed += passed;
      counts.failed += failures.length;
      counts.skipped += skipped.length;
    }
    for (const reason of skipped) this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    this.#times.push({ file, seconds });
    folder.left -= 1;
    const printed = output.trim() === "" ? "" : `${indent(output)}\n`;
    const failed = failures.map(
      ({ name, reason }) => `\nFAILED: test/${file}\n  ${name}\n${indent(reason)}\n${printed}`,
    );
    return failed.join("") + (folder.left === 0 ? renderCounts(nameOfFolder(file), folder) : "");
  }

  /** Returns a line that says how far the run is, and what runs. */
  progress(running: readonly RunningFile[]): string {
    const { passed, failed } = this.#total;
    const names = running.map(({ name, startedAt }) => {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      return shortName(name) + (seconds < LONG_S ? "" : ` (${seconds} s)`);
    });
    const files = `${this.#times.length} of ${this.#files} files`;
    return `${this.#seconds()} s: ${files}, ${passed} tests passed, ${failed} failed; running ${names.join(", ")}\n`;
  }

  /** Returns the last lines. */
  end(): string {
    const { passed, failed, skipped } = this.#total;
    const reasons = [...this.#reasons].map(
      ([reason, count]) => `SKIPPED: ${count} ${count === 1 ? "test" : "tests"}: ${reason}\n`,
    );
    const totals = `\n${passed} passed, ${failed} failed, ${skipped} skipped, in ${this.#seconds()} s\n`;
    return this.#slowest() + reasons.join("") + totals;
  }

  #folderOf(file: string): Folder {
    const name = nameOfFolder(file);
    const folder = this.#folders.get(name) ?? { left: 0, passed: 0, failed: 0, skipped: 0 };
    this.#folders.set(name, folder);
    return folder;
  }

  #slowest(): string {
    const slowest = this.#times.sort((a, b) => b.seconds - a.seconds).slice(0, NAMED);
    const named = slowest.map(({ file, seconds }) => `${shortName(file)} ${Math.round(seconds)} s`);
    return `slowest: ${named.join(", ")}\n`;
  }

  #seconds(): number {
    return Math.round((performance.now() - this.#startedAt) / 1000);
  }
}

function shortName(file: string): string {
  return file.replace(/\.test\.ts$/, "");
}

function nameOfFolder(file: string): string {
  return `test/${file.split("/")[0]}`;
}

function renderCounts(folder: string, { passed, failed, skipped }: Counts): string {
  const others = [failed > 0 ? `${failed} FAILED` : "", skipped > 0 ? `${skipped} skipped` : ""];
  return `${folder.padEnd(28)} ${[`${passed} passed`, ...others.filter(Boolean)].join(", ")}\n`;
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, "    ");
}
