import type { IncomingMessage } from "node:http";

/** How much of a refused request's body is read, so that a client that is still sending gets to read the response. */
const DRAIN_LIMIT_BYTES = 8 * 1024 * 1024;
export const DRAIN_LIMIT_MS = 2_000;

/** Reads and discards the rest of a request body. Calls back once: at its end, or at the limit of bytes or time. */
export function discardBody(req: IncomingMessage, done: () => void): void {
  let drainedBytes = 0;
  const timer = setTimeout(stop, DRAIN_LIMIT_MS);
  function stop(): void {
    clearTimeout(timer);
    req.off("data", count);
    req.off("end", stop);
    req.off("close", stop);
    done();
  }
  function count(chunk: Buffer): void {
    drainedBytes += chunk.length;
    if (drainedBytes > DRAIN_LIMIT_BYTES) stop();
  }
  req.on("data", count);
  req.on("end", stop);
  req.on("close", stop);
  req.resume();
}
