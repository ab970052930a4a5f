import type { Secret } from "./secret.ts";

/**
 * Redacts a secret in a stream, also across chunks. Keeps the length, and holds back only what may be the beginning of a
 * spelling of the secret.
 */
export interface StreamRedactor {
  /** Takes the next chunk and returns the bytes that are ready to be sent. */
  push(chunk: Buffer): Buffer;
  /** Returns the bytes that were held back. */
  end(): Buffer;
}

const ASTERISK = 0x2a;

export function createStreamRedactor(secret: Secret): StreamRedactor {
  let held: Buffer = Buffer.alloc(0);
  /** Where `held` begins in the stream. */
  let offset = 0;
  const redact = (start: number, end: number) =>
    held.fill(ASTERISK, Math.max(0, start - offset), end - offset);
  const scanner = secret.createScanner(redact);
  return {
    push(chunk) {
      const read = held.length;
      held = Buffer.concat([held, chunk]);
      scanner?.read(held, read);
      const ready = scanner === null ? held.length : Math.max(0, scanner.start - offset);
      const bytes = held.subarray(0, ready);
      held = held.subarray(ready);
      offset += ready;
      return bytes;
    },
    end() {
      scanner?.end();
      const rest = held;
      held = Buffer.alloc(0);
      return rest;
    },
  };
}
