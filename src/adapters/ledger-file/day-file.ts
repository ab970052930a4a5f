import * as fs from "node:fs";
import { join } from "node:path";
import { dayFileName, parseLedgerFileName } from "../../core/ledger/day.ts";
import type { Log } from "../../ports.ts";
import { openPrivateFile } from "./private-file.ts";
import { endTornLine } from "./torn-line.ts";
import { attribute } from "../../core/system-error.ts";

/** One day's file, open for appending. Other daemons may append to it as well, so it is never made shorter. */
export class DayFile {
  readonly day: string;
  readonly #path: string;
  readonly #fd: number;
  readonly #appended: Map<string, number>;

  private constructor(day: string, path: string, fd: number, appended: Map<string, number>) {
    this.day = day;
    this.#path = path;
    this.#fd = fd;
    this.#appended = appended;
  }

  /**
   * Opens or creates the file; ends a torn last line and logs that. Throws what `openPrivateFile` throws.
   * @param appended by day, how many bytes were appended
   */
  static open(directory: string, day: string, log: Log, appended = new Map<string, number>()): DayFile {
    const path = join(directory, dayFileName(day));
    const fd = openPrivateFile(path);
    try {
      const bytes = endTornLine(fd);
      if (bytes > 0) log.warn({ file: path, bytes }, "the last line of the ledger was torn; it is in no sum");
    } catch (error) {
      fs.closeSync(fd);
      throw attribute(error, path);
    }
    return new DayFile(day, path, fd, appended);
  }

  /**
   * Appends whole lines with one `write`. Returns how many of the lines were written: all, unless the disk is full. What it took of the next
   * line is torn. There is no fsync: a crash of the daemon loses nothing without it, and protection from a crash of the machine is not worth
   * 180 µs per request (docs/platform.md section 7).
   */
  append(lines: readonly string[]): number {
    const text = lines.join("");
    const written = this.#write(text);
    if (written === Buffer.byteLength(text)) return lines.length;
    let left = written;
    return lines.findIndex((line) => (left -= Buffer.byteLength(line)) < 0);
  }

  #write(text: string): number {
    try {
      const written = fs.writeSync(this.#fd, text);
      this.#appended.set(this.day, written + (this.#appended.get(this.day) ?? 0));
      return written;
    } catch (error) {
      throw attribute(error, this.#path);
    }
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

/** Ends the torn last line of every day's file. Throws what {@link DayFile.open} throws. */
export function repairDayFiles(directory: string, log: Log): void {
  for (const name of fs.readdirSync(directory)) {
    const file = parseLedgerFileName(name);
    if (file?.kind === "records") DayFile.open(directory, file.day, log).close();
  }
}
