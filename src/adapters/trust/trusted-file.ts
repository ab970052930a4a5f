import { constants, statSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "../../core/failure.ts";
import { fixForeignFile } from "../../core/foreign-file.ts";
import { isInSandbox } from "../user-namespace.ts";
import { exposureFailure, followPath, judge, type Trusted } from "./exposure.ts";

/** The content of a file that no untrusted user can write. */
interface TrustedFile {
  text: string;
  /** True when only the owner can access the file; always true on Windows, which has no mode bits. */
  isPrivate: boolean;
}

/** Far more than anyone writes. Checking a larger file would block the daemon's requests. */
const MIB = 1024 * 1024;
const MAX_BYTES = MIB;

const ACCESSIBLE_TO_OTHERS = 0o077;

/**
 * Reads a regular file of a bounded size, without a byte order mark, that decides where requests go. Throws a Failure that says what
 * to type when anyone but the `trusted` could change it, or put another in its place (SECURITY.md E4).
 */
export async function readTrustedFile(
  path: string,
  trusted: Trusted = "us",
  maxBytes = MAX_BYTES,
): Promise<TrustedFile> {
  // Without O_NONBLOCK, opening a named pipe would block until someone opens it for writing.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const before = await handle.stat();
    if (before.size > maxBytes) throw new Failure(`it is larger than ${maxBytes / MIB} MiB`);
    await refuseDistrusted(path, before, trusted);
    const text = await handle.readFile("utf8");
    // Once more, because permissions may have changed while it was read.
    const stats = await handle.stat();
    await refuseDistrusted(path, stats, trusted);
    const isPrivate = process.getuid === undefined || (stats.mode & ACCESSIBLE_TO_OTHERS) === 0;
    return { text: text.replace(/^\uFEFF/, ""), isPrivate };
  } finally {
    await handle.close();
  }
}

/** Judges the open file, `stats`, and the path that leads to it: what was read must be what the path leads to now. */
async function refuseDistrusted(path: string, stats: Stats, trusted: Trusted): Promise<void> {
  if (!stats.isFile()) throw new Failure("it is not a regular file");
  const self = process.getuid?.();
  if (self === undefined) return;
  if (trusted === "us" && stats.uid !== self && stats.uid !== 0)
    throw belongsToAnother(path, self, stats.uid);
  const followed = followPath(path);
  const exposure = await judge(followed, trusted);
  if (exposure !== null) throw exposureFailure(exposure, "it");
  if (followed.target?.ino !== stats.ino || followed.target.dev !== stats.dev)
    throw new Failure("it was replaced while it was read", "try again");
}

/** In a user namespace that does not map root, such as the service's sandbox, root's files appear to be nobody's. */
function belongsToAnother(path: string, self: number, owner: number): Failure {
  // The owner's own daemon could not use it any more if root took it.
  if (self === 0 && statSync(dirname(path)).uid === owner)
    return new Failure(`it belongs to user id ${owner}`, "type it again as that user, without sudo");
  if (!isInSandbox()) return new Failure("it belongs to another user", fixForeignFile(path, owner, self));
  const message =
    "its owner is unknown in the service's sandbox; the service must run without the sandbox to use files of root";
  return new Failure(message, "tollkeeper service install");
}
