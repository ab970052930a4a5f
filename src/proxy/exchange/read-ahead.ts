import type { IncomingMessage } from "node:http";
import { READ_AHEAD_BYTES } from "../client/listener.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/**
 * Counts what Node reads of a request's body before anyone takes it, until `awaited` settles. If that is too much, reading
 * pauses until then. `announcedBytes` is null for a chunked body, which may be of any size.
 */
export async function readAhead<T>(
  req: IncomingMessage,
  announcedBytes: number | null,
  buffer: SharedBuffer,
  awaited: Promise<T>,
): Promise<T> {
  const bytes = Math.min(announcedBytes ?? READ_AHEAD_BYTES, READ_AHEAD_BYTES);
  buffer.resize(0, bytes);
  const mayRead = buffer.hasRoom(bytes);
  if (!mayRead) process.nextTick(() => stopReading(req));
  try {
    return await awaited;
  } finally {
    buffer.resize(bytes, 0);
    if (!mayRead) req.socket.resume();
  }
}

/** Returns everything that has arrived, null when nothing has. From Node 26 on, `read()` returns one chunk at a time. */
export function takeAll(incoming: IncomingMessage): Buffer | null {
  const first = incoming.read() as Buffer | null;
  if (first === null || incoming.readableLength === 0) return first;
  const chunks = [first];
  // Without a length, so that the last of them lets Node emit 'end'.
  while (incoming.readableLength > 0) chunks.push(incoming.read() as Buffer);
  return Buffer.concat(chunks);
}

/** After what has arrived with the head, in the next tick. Without the `read`, Node would resume the socket in the one after. */
function stopReading(req: IncomingMessage): void {
  if (req.complete) return;
  req.read(0);
  req.socket.pause();
}
