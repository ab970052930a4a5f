import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { noRoomToSign } from "../../core/refusals/limits.ts";
import { collectBody, type CollectLimits } from "../exchange/read-body.ts";
import type { SharedBuffer } from "../exchange/shared-buffer.ts";

/** What a signature says of a body. */
export interface Payload {
  /** Hexadecimal digits. */
  sha256: string;
  bytes: number;
}

/** Reads the whole body, and puts it back. Rejects with a RefusalError when it is too long to be held, or stops arriving. */
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

/** Returns what a signature says of this body. */
export function payloadOf(body: Buffer): Payload {
  return { sha256: createHash("sha256").update(body).digest("hex"), bytes: body.length };
}
