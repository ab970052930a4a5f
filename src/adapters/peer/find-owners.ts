import { open, type FileHandle } from "node:fs/promises";
import { GONE_UID } from "../../ports.ts";
import { NO_INODE, parseSocketRow } from "../socket-table.ts";

/** The owner of a socket. */
export interface SocketOwner {
  /** {@link GONE_UID} for a socket that no process holds any more. */
  uid: number;
  /** Identifies the socket among a process's open files; {@link NO_INODE} for one that no process holds. */
  inode: number;
}

/** The kernel returns at most one page of whole rows per read; twice that is a reserve. */
const CHUNK_BYTES = 8192;

const [COLON, NEWLINE] = [0x3a, 0x0a];

/**
 * Searches one of the kernel's tables for the wanted rows, given by their first two columns as this table spells them, and
 * puts the owner of each into `owners`. Stops at the last one: reading to the end costs twice as much, because the kernel
 * walks the table again to report the end. Returns false when the table does not exist or is closed to this user. After any
 * other fault, such as too many open files, the table counts as empty: its sockets then have no owner, and are refused.
 */
export async function findOwners(
  path: string,
  wanted: ReadonlySet<string>,
  owners: Map<string, SocketOwner>,
): Promise<boolean> {
  let file: FileHandle | null = null;
  try {
    file = await open(path);
    await search(file, new Set(wanted), owners);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ENOENT" && code !== "EACCES";
  } finally {
    await file?.close();
  }
}

async function search(
  file: FileHandle,
  missing: Set<string>,
  owners: Map<string, SocketOwner>,
): Promise<void> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let kept = 0;
  while (missing.size > 0) {
    const { bytesRead } = await file.read(chunk, kept, CHUNK_BYTES - kept);
    if (bytesRead === 0) return;
    const end = kept + bytesRead;
    const rest = takeRows(chunk.subarray(0, end), missing, owners);
    chunk.copyWithin(0, rest, end);
    kept = end - rest;
  }
}

/** Finds wanted rows among the whole rows of `chunk`. Returns the offset of the incomplete row at its end. */
function takeRows(chunk: Buffer, missing: Set<string>, owners: Map<string, SocketOwner>): number {
  const [{ length } = ""] = missing;
  let start = 0;
  for (;;) {
    const end = chunk.indexOf(NEWLINE, start);
    if (end === -1) return start;
    // A row starts with its number and a colon; the two columns after that have the same width in every row of a table.
    const columns = chunk.indexOf(COLON, start) + 2;
    const ends = chunk.toString("latin1", columns, columns + length);
    // The head of the table has no colon, so the one found is in the next row.
    if (columns < end && missing.has(ends)) {
      const owner = ownerIn(chunk.toString("latin1", start, end));
      if (owner.uid !== GONE_UID) missing.delete(ends);
      if (owner.uid !== GONE_UID || !owners.has(ends)) owners.set(ends, owner);
    }
    start = end + 1;
  }
}

function ownerIn(row: string): SocketOwner {
  const { uid, inode } = parseSocketRow(row);
  return { uid: inode === NO_INODE ? GONE_UID : uid, inode };
}
