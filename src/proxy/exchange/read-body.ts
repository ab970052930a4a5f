import type { IncomingMessage } from "node:http";
import type { BodySize } from "../../core/budget/budget-request.ts";
import { SizeReader } from "../../core/budget/size-reader.ts";
import type { BatchFacts } from "../../core/decide/decision.ts";
import { BatchReader } from "../../core/policy/batch-reader.ts";
import { ModelReader } from "../../core/policy/model-reader.ts";
import { bufferFull, tooLarge, tooSlow } from "../../core/refusals/limits.ts";
import { RefusalError, type Refusal } from "../../core/refusals/refusal.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

// What is read of a request's body before it is sent. All of it is put back.

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
 * the client has disconnected. Rejects with a RefusalError when the client stops sending, or sends more than there is room for:
 * `whenFull` says why it has to be held.
 */
export function collectBody(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
  feed: (chunk: Buffer) => boolean,
  whenFull: () => Refusal = bufferFull,
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
      else if (buffer.isFull) finish(whenFull());
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

/**
 * Reads the start of a JSON body until its `model` is known; some tools write it last. Resolves with the reader as far as it got: it
 * has a model or a fault, or the client has disconnected, or the body ended without a model. Rejects as {@link collectBody} does.
 * @param only as for {@link ModelReader}
 */
export async function peekModel(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
  only: readonly string[] | null,
): Promise<ModelReader> {
  const reader = new ModelReader(only);
  await collectBody(req, limits, buffer, (chunk) => {
    reader.feed(chunk);
    return reader.place !== null || reader.fault !== null;
  });
  return reader;
}

/** Reads the whole body of a batch, and resolves with what its requests ask for. `only` as for {@link ModelReader}. Rejects as {@link collectBody} does. */
export async function readBatch(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
  only: readonly string[],
): Promise<BatchFacts> {
  const reader = new BatchReader(only);
  await collectBody(req, limits, buffer, (chunk) => {
    reader.feed(chunk);
    return reader.fault !== null;
  });
  return { models: reader.models, size: reader.size, fault: reader.finish() };
}

/** What makes the fingerprint of a body. */
export interface BodyHash {
  feed(chunk: Buffer): void;
  digest(): string;
}

/** Reads the whole body, and resolves with its fingerprint as `hash` makes it. Rejects as {@link collectBody} does. */
export async function readFingerprint(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
  hash: BodyHash,
): Promise<string> {
  await collectBody(req, limits, buffer, (chunk) => {
    hash.feed(chunk);
    return false;
  });
  return hash.digest();
}

/**
 * Reads the whole body, and resolves with what it may spend. `reader` has the model already; null to search for it, too. Rejects as
 * {@link collectBody} does.
 */
export async function readSize(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
  reader: ModelReader | null,
): Promise<{ reader: ModelReader; size: BodySize }> {
  const models = reader ?? new ModelReader(null);
  const sizes = new SizeReader();
  await collectBody(req, limits, buffer, (chunk) => {
    sizes.feed(chunk);
    if (reader === null && models.place === null && models.fault === null) models.feed(chunk);
    return false;
  });
  return { reader: models, size: sizes.size };
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
