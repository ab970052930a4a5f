import { constants, statSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { isInSandbox } from "../user-namespace.ts";

/** The content of a file that no untrusted user can write. */
interface TrustedFile {
  text: string;
  /** True when only the owner can access the file; always true on Windows, which has no mode bits. */
  isPrivate: boolean;
}

/** Far more than anyone writes. Checking a larger file would block the daemon's requests. */
const MAX_BYTES = 1024 * 1024;

const WRITABLE_BY_ALL = 0o002;
const ACCESSIBLE_TO_OTHERS = 0o077;

/**
 * Reads a file that decides where requests go. Throws a Failure that says what to type when other users can write the file
 * (SECURITY.md E4).
 */
export async function readTrustedFile(path: string): Promise<TrustedFile> {
  let isPrivate = true;
  const text = await readFileOnce(path, (stats) => {
    refuseDistrusted(path, stats);
    isPrivate = process.getuid === undefined || (stats.mode & ACCESSIBLE_TO_OTHERS) === 0;
  });
  return { text, isPrivate };
}

/**
 * Reads a regular file of a bounded size as text, without a byte order mark. `check` throws if it must not be read. It sees the open
 * descriptor, not the path, so that what is read is what was checked.
 */
export async function readFileOnce(path: string, check: (stats: Stats) => void): Promise<string> {
  // Without O_NONBLOCK, opening a named pipe would block until someone opens it for writing.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const checkAll = (stats: Stats) => {
    if (!stats.isFile()) throw new Failure("it is not a regular file");
    if (stats.size > MAX_BYTES) throw new Failure("it is larger than 1 MiB");
    check(stats);
  };
  try {
    checkAll(await handle.stat());
    const text = await handle.readFile("utf8");
    // Checked again, because its mode may have changed while it was read.
    checkAll(await handle.stat());
    return text.replace(/^\uFEFF/, "");
  } finally {
    await handle.close();
  }
}

function refuseDistrusted(path: string, stats: Stats): void {
  const self = process.getuid?.();
  // Windows has neither owners nor mode bits.
  if (self === undefined) return;
  if (stats.uid !== self && stats.uid !== 0) throw belongsToAnother(path, self, stats.uid);
  if ((stats.mode & WRITABLE_BY_ALL) !== 0) {
    throw new Failure("other users can change it", formatCommand(["chmod", "go-w", path]));
  }
}

/** In a user namespace that does not map root, such as the service's sandbox, root's files appear to be nobody's. */
function belongsToAnother(path: string, self: number, owner: number): Failure {
  // The owner's own daemon could not use it any more if root took it.
  if (self === 0 && statSync(dirname(path)).uid === owner)
    return new Failure(`it belongs to user id ${owner}`, "type it again as that user, without sudo");
  if (!isInSandbox()) {
    return new Failure("it belongs to another user", formatCommand(["sudo", "chown", String(self), path]));
  }
  const message =
    "its owner is unknown in the service's sandbox; the service must run without the sandbox to use files of root";
  return new Failure(message, "tollkeeper service install");
}
