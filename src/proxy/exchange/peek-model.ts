import type { IncomingMessage } from "node:http";
import { RefusalError } from "../../core/http/refusal.ts";
import { createRequestScanner } from "../../core/usage/request-scanner.ts";
import { tooSlow } from "./limit-refusals.ts";

/** How much of a body is held to find its model. Tools put `model` first or behind a system prompt of some 100 KB. */
const PEEK_LIMIT_BYTES = 1024 * 1024;

/** What a peek may cost. */
export interface PeekLimits {
  /** Longest silence of the client within the body, in milliseconds. */
  bodyIdleMs: number;
  /** Bytes to hold at most, up to the end of the chunk that reaches the limit. */
  peekBytes?: number;
}

/**
 * Reads the start of a JSON body until its `model` is known, and puts the bytes back, so that whoever reads the request next
 * gets the body from its first byte, and its 'end'. Resolves with null if the model is not known: the body has none, ended
 * before it, is compressed, or names it after the limit. Rejects with a RefusalError when the client stops sending.
 */
export function peekModel(req: IncomingMessage, limits: PeekLimits): Promise<string | null> {
  const { bodyIdleMs, peekBytes = PEEK_LIMIT_BYTES } = limits;
  const scan = createRequestScanner();
  const held: Buffer[] = [];
  let heldBytes = 0;
  return new Promise((resolve, reject) => {
    let idleTimer: NodeJS.Timeout | undefined;

    /** Takes what has arrived. Returns true when there is nothing more to wait for. */
    function take(): boolean {
      // Not `read()` alone: on an ended body without bytes it would emit 'end', which the next reader waits for.
      if (req.readableLength > 0) {
        const chunk = req.read() as Buffer;
        idleTimer?.refresh();
        held.push(chunk);
        heldBytes += chunk.length;
        scan.feed(chunk);
      }
      return scan.model !== null || req.complete || req.destroyed || heldBytes >= peekBytes;
    }

    function onReadable(): void {
      if (take()) finish(null);
    }

    function onClose(): void {
      finish(null);
    }

    function finish(refusal: RefusalError | null): void {
      clearTimeout(idleTimer);
      req.off("readable", onReadable);
      req.off("close", onClose);
      // In the tick of the last read: once 'end' has been emitted, nothing can be put back.
      if (heldBytes > 0) req.unshift(Buffer.concat(held));
      if (refusal === null) resolve(scan.model);
      else reject(refusal);
    }

    // What arrived together with the head is available in the next tick, and is mostly enough. Not earlier, because a listener
    // for 'readable' makes Node read, which emits 'end' for an empty body that has arrived by then.
    process.nextTick(() => {
      if (take()) {
        finish(null);
        return;
      }
      idleTimer = setTimeout(() => finish(new RefusalError(tooSlow(bodyIdleMs))), bodyIdleMs);
      req.on("readable", onReadable);
      req.on("close", onClose);
    });
  });
}
