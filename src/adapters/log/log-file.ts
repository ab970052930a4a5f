import * as fs from "node:fs";
import { dirname } from "node:path";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { fixOf } from "../system-fix.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = fs.constants;

/** A few weeks of an active daemon's log. With the rotated file, the log takes twice this much disk. */
const MAX_BYTES = 5 * 1024 * 1024;

/**
 * The daemon's log as a file, readable by its owner only, for service managers that keep no log of their own: launchd
 * appends to a file and never rotates it. At 5 MiB the file is renamed to `FILE.1`, replacing an older one.
 */
export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #fd: number;
  #size: number;

  /** Throws a Failure when the file cannot be opened, or is not a regular file of this user (SECURITY.md E4). */
  constructor(path: string, maxBytes: number = MAX_BYTES) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    try {
      this.#fd = open(path);
    } catch (error) {
      throw new Failure(`cannot write the log: ${messageOf(error)}`, fixOf(error), { cause: error });
    }
    this.#size = fs.fstatSync(this.#fd).size;
  }

  /** Writes as much as the disk takes and returns the number of bytes. Throws an errno error when it takes none. */
  write(bytes: Buffer): number {
    if (this.#size > 0 && this.#size + bytes.length > this.#maxBytes) this.#rotate();
    const written = fs.writeSync(this.#fd, bytes);
    this.#size += written;
    return written;
  }

  /** Reopens the file by its name, after it was moved away. Throws, and keeps the old file, when that is impossible. */
  reopen(): void {
    const fd = open(this.#path);
    fs.closeSync(this.#fd);
    this.#fd = fd;
    this.#size = fs.fstatSync(fd).size;
  }

  /** Keeps writing to the file when it cannot be renamed or reopened: a log that is too large is better than none. */
  #rotate(): void {
    try {
      fs.renameSync(this.#path, `${this.#path}.1`);
    } catch (error) {
      // ENOENT: it was moved away already.
      if (!hasCode(error, "ENOENT")) {
        this.#size = 0;
        return;
      }
    }
    try {
      this.reopen();
    } catch {
      this.#size = 0;
    }
  }
}

/** Throws for anything but a regular file: a device would be renamed on rotation, and opening a pipe could block. */
function open(path: string): number {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0), 0o600);
  try {
    const found = fs.fstatSync(fd);
    if (!found.isFile()) throw new Error(`${path} is not a regular file`);
    const self = process.geteuid?.() ?? found.uid;
    if (found.uid !== self) throw new Error(`${path} belongs to another user`);
    if ((found.mode & 0o777) !== 0o600) fs.fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}
