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
  /** Bytes to hold at most. */
  peekBytes?: number;
}

/**
 * Reads the start of a JSON body until its `model` is known, and puts the bytes back, so that whoever reads the request next
 * gets the body from its first byte. Returns null where the model is not known: the body has none, ended or broke off before
 * it, is compressed, or names it after the limit.
 * @throws Refused when the client stops sending
 */
export function peekModel(req: IncomingMessage, limits: PeekLimits): Promise<string | null> {
  const { bodyIdleMs, peekBytes = PEEK_LIMIT_BYTES } = limits;
  const scan = createRequestScanner();
  const held: Buffer[] = [];
  let heldBytes = 0;
  return new Promise((resolve, reject) => {
    const idleTimer = setTimeout(() => finish(new RefusalError(tooSlow(bodyIdleMs))), bodyIdleMs);

    function onReadable(): void {
      const chunk = req.read() as Buffer | null;
      if (chunk !== null) {
        idleTimer.refresh();
        held.push(chunk);
        heldBytes += chunk.length;
        scan.feed(chunk);
      }
      if (scan.model !== null || req.complete || heldBytes >= peekBytes) finish(null);
    }

    function finish(refusal: RefusalError | null): void {
      clearTimeout(idleTimer);
      req.off("readable", onReadable);
      req.off("end", onEnd);
      req.off("close", onEnd);
      // In the tick of the last read: once 'end' has been emitted, nothing can be put back.
      if (heldBytes > 0 && !req.destroyed) req.unshift(Buffer.concat(held));
      if (refusal === null) resolve(scan.model);
      else reject(refusal);
    }

    function onEnd(): void {
      finish(null);
    }

    req.on("readable", onReadable);
    req.on("end", onEnd);
    req.on("close", onEnd);
  });
}
