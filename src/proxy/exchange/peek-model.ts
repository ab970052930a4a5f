import type { IncomingMessage } from "node:http";
import { RefusalError, type Refusal } from "../../core/http/refusal.ts";
import { ModelReader } from "../../core/policy/model-reader.ts";
import { bufferFull, tooLarge, tooSlow } from "./limit-refusals.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/** What a peek may cost. */
export interface PeekLimits {
  /** Longest silence of the client within the body, in milliseconds. */
  bodyIdleMs: number;
  /** The largest body, and so the most to hold: some tools write `model` last. */
  bodyBytes: number;
}

/**
 * Reads the start of a JSON body until its `model` is known, and puts the bytes back, so that whoever reads the request next
 * gets the body from its first byte, and its 'end'. Resolves with the reader as far as it got: it has a model or a fault, or the
 * client has disconnected, or the body ended without a model. Rejects with a RefusalError when the client stops sending, or sends
 * more than there is room for.
 * @param isOnly as for {@link ModelReader}
 */
export function peekModel(
  req: IncomingMessage,
  limits: PeekLimits,
  buffer: SharedBuffer,
  isOnly: boolean,
): Promise<ModelReader> {
  const reader = new ModelReader(isOnly);
  const held: Buffer[] = [];
  return new Promise((resolve, reject) => {
    let idleTimer: NodeJS.Timeout | undefined;
    let isFinished = false;

    /** Takes what has arrived. Ends the peek when there is nothing more to wait for, or no room for more. */
    function take(): void {
      // Not `read()` alone: on an ended body without bytes it would emit 'end', which the next reader waits for.
      if (req.readableLength > 0) {
        const chunk = req.read() as Buffer;
        idleTimer?.refresh();
        held.push(chunk);
        buffer.resize(0, chunk.length);
        reader.feed(chunk);
      }
      if (reader.place !== null || reader.fault !== null || req.complete || req.destroyed) finish(null);
      else if (reader.bytes > limits.bodyBytes) finish(tooLarge(limits.bodyBytes));
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
      if (reader.bytes > 0) req.unshift(Buffer.concat(held));
      buffer.resize(reader.bytes, 0);
      if (refusal === null) resolve(reader);
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
