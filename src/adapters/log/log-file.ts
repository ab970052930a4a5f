import * as fs from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../../core/failure.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = fs.constants;

/** A few weeks of a daemon that has something to say; with the one before it, this is all the disk that it takes. */
const MOST_BYTES = 5 * 1024 * 1024;

/**
 * The daemon's log as a file, for a service manager that keeps none (launchd writes to a file for ever and never rotates
 * it). Its owner alone can read it. At 5 MiB it becomes `FILE.1`, in the place of an older one.
 */
export class LogFile {
  readonly #path: string;
  readonly #mostBytes: number;
  #fd: number;
  #size: number;

  /** Throws a Failure when the file cannot be had, or is a link that somebody put there (facts/threats.md E4). */
  constructor(path: string, mostBytes: number = MOST_BYTES) {
    this.#path = path;
    this.#mostBytes = mostBytes;
    try {
      this.#fd = open(path);
    } catch (error) {
      const why = messageOf(error);
      throw new Failure(`cannot write the log: ${why}`, `look at: ls -ld ${dirname(path)} ${path}`, {
        cause: error,
      });
    }
    this.#size = fs.fstatSync(this.#fd).size;
  }

  /** Writes what the disk takes, and returns how many bytes that was. Throws an errno error when it takes none. */
  write(bytes: Buffer): number {
    if (this.#size > 0 && this.#size + bytes.length > this.#mostBytes) this.#rotate();
    const written = fs.writeSync(this.#fd, bytes);
    this.#size += written;
    return written;
  }

  /** Goes on in the file that has the name now: the old one was moved away. Throws, and stays with that, when it cannot be had. */
  reopen(): void {
    const fd = open(this.#path);
    fs.closeSync(this.#fd);
    this.#fd = fd;
    this.#size = fs.fstatSync(fd).size;
  }

  /** What cannot be moved, or opened anew, is written on: a large file is better than none. */
  #rotate(): void {
    try {
      fs.renameSync(this.#path, `${this.#path}.1`);
    } catch (error) {
      // Somebody has taken it away already.
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

/** Throws for what is no regular file of ours: a device would be moved away, and a pipe waited for. */
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
