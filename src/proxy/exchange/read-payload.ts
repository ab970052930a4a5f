import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { noRoomToSign } from "../../core/refusals/limits.ts";
import type { Payload } from "../signing/payload.ts";
import { collectBody, type CollectLimits } from "./read-body.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/**
 * Reads the whole body, and puts it back. Resolves to what a signature says of it. Rejects with a RefusalError when it is too long to be
 * held, or stops arriving.
 */
export async function readPayload(
  req: IncomingMessage,
  limits: CollectLimits,
  buffer: SharedBuffer,
): Promise<Payload> {
  const hash = createHash("sha256");
  let bytes = 0;
  const feed = (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    return false;
  };
  await collectBody(req, limits, buffer, feed, noRoomToSign);
  return { sha256: hash.digest("hex"), bytes };
}
