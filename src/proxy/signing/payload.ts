import { createHash } from "node:crypto";

/** What a signature says of a body. */
export interface Payload {
  /** Hexadecimal digits. */
  sha256: string;
  bytes: number;
}

/** Returns what a signature says of this body. */
export function payloadOf(body: Buffer): Payload {
  return { sha256: createHash("sha256").update(body).digest("hex"), bytes: body.length };
}
