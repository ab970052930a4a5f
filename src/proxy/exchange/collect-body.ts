import type { IncomingMessage } from "node:http";
import { RefusalError, type Refusal } from "../../core/refusals/refusal.ts";
import { bufferFull, tooLarge, tooSlow } from "../../core/refusals/limits.ts";
import { takeAll } from "./read-ahead.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/** What reading a body in advance may cost. */
export interface CollectLimits {
  /** Longest silence of the client within the body, in milliseconds. */
  bodyIdleMs: number;
  /** The largest body, and so the most to hold. */
  bodyBytes: number;
}

/**
 * Reads a body from its start, and puts the bytes back, so that whoever reads the request next gets it from its first byte, and its
 * 'end'. Resolves when `feed` has returned true for a chunk, which means that it needs no more, when the body has ended, or when
 * the client has disconnected. Rejects with a RefusalError when the client stops sending, or sends more than there is room for.
 */
export function collectBody(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
  feed: (chunk: Buffer) => boolean,
): Promise<void> {
  const held: Buffer[] = [];
  return new Promise((resolve, reject) => {
    let idleTimer: NodeJS.Timeout | undefined;
    let bytes = 0;
    let isEnough = false;
    let isFinished = false;

    /** Takes what has arrived. Ends the reading when there is nothing more to wait for, or no room for more. */
    function take(): void {
      // Not `read()` alone: on an ended body without bytes it would emit 'end', which the next reader waits for.
      const chunk = req.readableLength > 0 ? takeAll(req) : null;
      if (chunk !== null) {
        idleTimer?.refresh();
        held.push(chunk);
        buffer.resize(0, chunk.length);
        bytes += chunk.length;
        isEnough = feed(chunk);
      }
      if (isEnough || req.complete || req.destroyed) finish(null);
      else if (bytes > limits.bodyBytes) finish(tooLarge(limits.bodyBytes));
      else if (buffer.isFull) finish(bufferFull());
    }

    function onClose(): void {
      finish(null);
    }

    function finish(refusal: Refusal | null): void {
      isFinished = true;
      clearTimeout(idleTimer);
      req.off("readable", take);
      req.off("close", onClose);
      // In the tick of the last read: once 'end' has been emitted, nothing can be put back.
      if (bytes > 0) req.unshift(held.length === 1 ? held[0] : Buffer.concat(held));
      buffer.resize(bytes, 0);
      if (refusal === null) resolve();
      else reject(new RefusalError(refusal));
    }

    // What arrived together with the head is available in the next tick, and is mostly enough. Not earlier, because a listener
    // for 'readable' makes Node read, which emits 'end' for an empty body that has arrived by then.
    process.nextTick(() => {
      take();
      if (isFinished) return;
      idleTimer = setTimeout(() => finish(tooSlow(limits.bodyIdleMs)), limits.bodyIdleMs);
      req.on("readable", take);
      req.on("close", onClose);
    });
  });
}
