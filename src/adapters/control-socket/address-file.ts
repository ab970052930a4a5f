import * as fs from "node:fs";
import { parseJson } from "../../core/json.ts";

/** What a daemon writes down when it has opened its control socket. */
interface Address {
  /** Absolute. */
  control: string;
  pid: number;
}

/**
 * Returns the path of the control socket that the file names; null when there is no file, or others could have written it. That the
 * daemon still listens there is for the caller to find out: it may have been killed. Never throws.
 * @param owners the uids whose file may be trusted
 */
export function readAddress(file: string, owners: readonly number[]): string | null {
  return read(file, owners)?.control ?? null;
}

/** Removes the file if this process wrote it. Never throws. */
export function removeAddress(file: string, owners: readonly number[]): void {
  if (read(file, owners)?.pid === process.pid) fs.rmSync(file, { force: true });
}

/** Returns the text of the file for a control socket of this process. */
export function formatAddress(control: string): string {
  return `${JSON.stringify({ control, pid: process.pid } satisfies Address)}\n`;
}

const WRITABLE_BY_OTHERS = 0o022;

function read(file: string, owners: readonly number[]): Address | null {
  try {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    try {
      const found = fs.fstatSync(fd);
      if (!found.isFile() || !owners.includes(found.uid) || (found.mode & WRITABLE_BY_OTHERS) !== 0)
        return null;
      const { control, pid } = parseJson(fs.readFileSync(fd, "utf8")) as Partial<Address>;
      return typeof control === "string" && typeof pid === "number" ? { control, pid } : null;
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    // There is none, or it is damaged: the daemon is then looked for in the usual places.
    return null;
  }
}
