import type { IncomingMessage } from "node:http";

/**
 * How much of a body Node reads before anyone takes it, that is, while the key is being read. Node notices that a client has
 * disconnected only after reading everything it sent, and most requests fit into this.
 */
export const READ_AHEAD_BYTES = 1024 * 1024;

/** What counts the bytes that wait, as far as reading ahead goes: `SharedBuffer`. */
interface ReadAheadBuffer {
  resize(before: number, after: number): void;
  mayKeep(bytes: number, added: number): boolean;
}

/**
 * Counts what Node reads of a request's body before anyone takes it, until `awaited` settles. If that is too much, reading
 * pauses until then. `announcedBytes` is null for a chunked body, which may be of any size.
 */
export async function countReadAhead<T>(
  req: IncomingMessage,
  announcedBytes: number | null,
  buffer: ReadAheadBuffer,
  awaited: Promise<T>,
): Promise<T> {
  const bytes = Math.min(announcedBytes ?? READ_AHEAD_BYTES, READ_AHEAD_BYTES);
  buffer.resize(0, bytes);
  const mayRead = buffer.mayKeep(bytes, 0);
  let isOver = false;
  if (!mayRead) process.nextTick(() => void (isOver || stopReading(req)));
  try {
    return await awaited;
  } finally {
    // What was known already is over before the next tick.
    isOver = true;
    buffer.resize(bytes, 0);
    if (!mayRead) req.socket.resume();
  }
}

/** After what has arrived with the head, in the next tick. Without the `read`, Node would resume the socket in the one after. */
function stopReading(req: IncomingMessage): void {
  if (req.complete) return;
  req.read(0);
  req.socket.pause();
}
