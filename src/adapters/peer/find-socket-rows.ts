import { closeSync, openSync, read, readSync } from "node:fs";
import { GONE_UID } from "../../ports.ts";
import { NO_INODE, parseSocketRow } from "../socket-table.ts";

/** The owner of a socket. */
export interface SocketOwner {
  /** {@link GONE_UID} for a socket that no process holds any more. */
  uid: number;
  /** Identifies the socket among a process's open files; {@link NO_INODE} for one that no process holds. */
  inode: number;
}

/** Rows that are looked for, by their first two columns as the table spells them. */
interface WantedRows {
  readonly size: number;
  keys(): Iterable<string>;
  has(columns: string): boolean;
}

/** What happens while a table is searched. */
interface SearchEvents {
  /** Before each read. Rows may be added to the wanted ones now: what is read next was not read before they were wanted. */
  onRead(): void;
  /** For each wanted row that is found. It may be removed from the wanted ones. */
  onFound(columns: string, owner: SocketOwner): void;
}

/** The kernel returns at most one page of whole rows per read; twice that is a reserve. */
const CHUNK_BYTES = 8192;

/**
 * A read that returned as much was ended by the page, and one that returned less by the table's end: a row has 150 bytes, with long
 * addresses 200.
 */
const FULL_BYTES = 4096 - 256;

/**
 * From this page on rows are close together: to fill a page the kernel walks a sixteenth of its table or less, and takes 20 to 60 µs at
 * once. In the pool it takes 50 more.
 */
const DENSE_FROM_PAGE = 16;

/** Of those pages one of so many is read in the pool all the same, so that the event loop turns meanwhile. */
const PAGES_PER_SLICE = 8;

const [COLON, NEWLINE] = [0x3a, 0x0a];

/**
 * Searches one of the kernel's tables for the wanted rows. Stops when none is left, and after the last row, without asking for more: the
 * kernel walks the whole table again to say that there is none. Resolves to false when the table does not exist or is closed to this user.
 * After any other fault, such as too many open files, the table counts as empty: its sockets then have no owner, and are refused.
 */
export async function findSocketRows(
  path: string,
  wanted: WantedRows,
  events: SearchEvents,
): Promise<boolean> {
  let fd: number | null = null;
  try {
    fd = openSync(path, "r");
    await search(fd, wanted, events);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ENOENT" && code !== "EACCES";
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

async function search(fd: number, wanted: WantedRows, events: SearchEvents): Promise<void> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let kept = 0;
  let pages = 0;
  let bytesRead = 0;
  for (;;) {
    events.onRead();
    if (wanted.size === 0) return;
    const isQuick = pages >= DENSE_FROM_PAGE && bytesRead >= FULL_BYTES && pages % PAGES_PER_SLICE !== 0;
    bytesRead = isQuick
      ? readSync(fd, chunk, kept, CHUNK_BYTES - kept, null)
      : await readInPool(fd, chunk, kept);
    pages += 1;
    const end = kept + bytesRead;
    const rest = takeRows(chunk.subarray(0, end), wanted, events);
    chunk.copyWithin(0, rest, end);
    kept = end - rest;
    if (bytesRead < FULL_BYTES) return;
  }
}

/** Reads without blocking the event loop: where rows are few, the kernel may walk all of its empty table before one, for 0.6 to 5 ms. */
function readInPool(fd: number, chunk: Buffer, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, chunk, offset, CHUNK_BYTES - offset, null, (error, bytesRead) => {
      if (error === null) resolve(bytesRead);
      else reject(error);
    });
  });
}

/** Finds wanted rows among the whole rows of `chunk`. Returns the offset of the incomplete row at its end. */
function takeRows(chunk: Buffer, wanted: WantedRows, events: SearchEvents): number {
  const [{ length } = ""] = wanted.keys();
  let start = 0;
  for (;;) {
    const end = chunk.indexOf(NEWLINE, start);
    if (end === -1) return start;
    // A row starts with its number and a colon; the two columns after that have the same width in every row of a table.
    const columns = chunk.indexOf(COLON, start) + 2;
    const ends = chunk.toString("latin1", columns, columns + length);
    // The head of the table has no colon, so the one found is in the next row.
    if (columns < end && wanted.has(ends))
      events.onFound(ends, ownerIn(chunk.toString("latin1", start, end)));
    start = end + 1;
  }
}

function ownerIn(row: string): SocketOwner {
  const { uid, inode } = parseSocketRow(row);
  return { uid: inode === NO_INODE ? GONE_UID : uid, inode };
}
