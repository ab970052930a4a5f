import * as fs from "node:fs";
import { join } from "node:path";
import { dayFileName, tornFileName } from "../../core/ledger/day.ts";
import type { Log } from "../../ports.ts";
import { openOwnFile } from "./own-file.ts";
import { setTornLineAside } from "./torn-line.ts";

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

  /** Opens or makes the file; a torn last line is set aside with a warning. Throws what `openOwnFile` throws. */
  static open(directory: string, day: string, log: Log): DayFile {
    const path = join(directory, dayFileName(day));
    const fd = openOwnFile(path);
    try {
      const torn = join(directory, tornFileName(day));
      const bytes = setTornLineAside(fd, torn);
      if (bytes > 0) log.warn({ file: path, bytes, torn }, "a torn last line of the ledger was set aside");
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
    return new DayFile(day, path, fd);
  }

  /**
   * Appends one whole line by one `write`. A disk that takes only part of it is given that part back, and the call
   * fails: the line is whole in the file or not there. No fsync: a crash of the daemon loses nothing, and one of the
   * machine is not worth 180 µs per request (facts/platform.md section 7).
   */
  append(line: string): void {
    const bytes = Buffer.byteLength(line);
    const taken = fs.writeSync(this.#fd, line);
    if (taken === bytes) return;
    fs.ftruncateSync(this.#fd, fs.fstatSync(this.#fd).size - taken);
    throw new Error(`the disk took ${taken} of ${bytes} bytes`);
  }

  /**
   * Was the file deleted under us, and with it what was appended last? Asked after each append, at a microsecond. Some
   * network file systems count no names at all: there only its place tells.
   */
  isDeleted(): boolean {
    return fs.fstatSync(this.#fd).nlink === 0 && !this.isInPlace();
  }

  /** Is the open file still the one that its path names? False once it was deleted, renamed or replaced. */
  isInPlace(): boolean {
    const named = fs.statSync(this.#path, { throwIfNoEntry: false });
    const open = fs.fstatSync(this.#fd);
    return named !== undefined && named.ino === open.ino && named.dev === open.dev;
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}
