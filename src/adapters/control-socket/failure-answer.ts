import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Failure } from "../../core/failure.ts";

/** The daemon is well and took the order as it was meant, but cannot carry it out (RFC 9110 section 15.5.10). */
const CONFLICT = 409;

/** Tells who asked what the daemon's own person would be told. */
export function answerFailure(res: ServerResponse, { message, hint }: Failure): void {
  res.writeHead(CONFLICT, { "content-type": "application/json" }).end(JSON.stringify({ message, hint }));
}

/** The failure that an answer tells of; null where it tells of none. */
export async function failureIn(res: IncomingMessage): Promise<Failure | null> {
  if (res.statusCode !== CONFLICT) return null;
  const { message, hint } = JSON.parse(await text(res)) as Pick<Failure, "message" | "hint">;
  return new Failure(message, hint);
}
