import * as fs from "node:fs";
import { join } from "node:path";
import { dayFileName, tornFileName } from "../../core/ledger/day.ts";
import type { Log } from "../../ports.ts";
import { appendText } from "./append-text.ts";
import { openPrivateFile } from "./private-file.ts";
import { moveTruncatedLine } from "./truncated-line.ts";

/** One day's file, open for appending. */
export class DayFile {
  readonly day: string;
  readonly #path: string;
  readonly #fd: number;

  private constructor(day: string, path: string, fd: number) {
    this.day = day;
    this.#path = path;
    this.#fd = fd;
  }

  /** Opens or creates the file; moves a truncated last line away and logs that. Throws what `openPrivateFile` throws. */
  static open(directory: string, day: string, log: Log): DayFile {
    const path = join(directory, dayFileName(day));
    const fd = openPrivateFile(path);
    try {
      const torn = join(directory, tornFileName(day));
      const bytes = moveTruncatedLine(fd, torn);
      if (bytes > 0)
        log.warn({ file: path, bytes, torn }, "a truncated last line of the ledger was set aside");
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
    return new DayFile(day, path, fd);
  }

  /** Appends whole lines. See {@link appendText}. */
  append(lines: string): void {
    appendText(this.#fd, lines);
  }

  /**
   * True when the open file was deleted, and the last append with it. Called after each append, for 1 µs. Some network file
   * systems do not count links, so a count of 0 is verified by the path.
   */
  isDeleted(): boolean {
    return fs.fstatSync(this.#fd).nlink === 0 && !this.isInPlace();
  }

  /** True when the path still names the open file: it was not deleted, renamed or replaced. */
  isInPlace(): boolean {
    const named = fs.statSync(this.#path, { throwIfNoEntry: false });
    const open = fs.fstatSync(this.#fd);
    return named !== undefined && named.ino === open.ino && named.dev === open.dev;
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}
