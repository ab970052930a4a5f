import { open, type FileHandle } from "node:fs/promises";
import { GONE_UID } from "../../ports.ts";

/** Whose a socket is. */
export interface SocketOwner {
  /** {@link GONE_UID} for a socket that no process holds any more. */
  uid: number;
  /** By it the socket is known among a process's open files; 0 for one that no process holds. */
  inode: number;
}

/** A socket whose process has let go of it, closed but not yet gone, stands in the tables with this inode and as root's. */
const NO_INODE = 0;
/** The kernel gives a page at a time, and whole lines of it; more room is for what it might do one day. */
const PIECE_BYTES = 8192;

const [COLON, NEWLINE] = [0x3a, 0x0a];

/**
 * Looks in one of the kernel's tables of TCP sockets for rows that begin with the wanted columns, all spelled for this
 * table, and puts the owner of each into `owners`. Reads no further than it must: to its end the table costs twice as much
 * (the kernel walks it once more to say that it is over).
 * False when there is no such table here. Any other fault, such as no free descriptor, is no reason to let everyone in:
 * the table is then as good as empty, and nobody is found in it.
 */
export async function readOwners(
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
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let kept = 0;
  while (missing.size > 0) {
    const { bytesRead } = await file.read(piece, kept, PIECE_BYTES - kept);
    if (bytesRead === 0) return;
    const end = kept + bytesRead;
    const rest = takeRows(piece.subarray(0, end), missing, owners);
    piece.copyWithin(0, rest, end);
    kept = end - rest;
  }
}

/** Takes the wanted ones from the whole lines of `piece`; returns where the unfinished line begins. */
function takeRows(piece: Buffer, missing: Set<string>, owners: Map<string, SocketOwner>): number {
  const [{ length } = ""] = missing;
  let start = 0;
  for (;;) {
    const end = piece.indexOf(NEWLINE, start);
    if (end === -1) return start;
    // "  0: 0100007F:A3B4 0100007F:21CF 01 ...": the columns are as wide in every row of a table.
    const columns = piece.indexOf(COLON, start) + 2;
    const row = piece.toString("latin1", columns, columns + length);
    // In the head of the table there is no colon: that one was the next line's.
    if (columns < end && missing.has(row)) {
      const owner = ownerIn(piece.toString("latin1", columns + length, end));
      if (owner.uid !== GONE_UID) missing.delete(row);
      if (owner.uid !== GONE_UID || !owners.has(row)) owners.set(row, owner);
    }
    start = end + 1;
  }
}

/** The rest of a row: " 01 00000000:00000000 00:00000000 00000000  1000        0 12345 ..." */
function ownerIn(rest: string): SocketOwner {
  const [, , , , uid, , socket] = rest.trim().split(/\s+/);
  const inode = Number(socket);
  return { uid: inode === NO_INODE ? GONE_UID : Number(uid), inode };
}
