import type { Secret } from "./secret.ts";

/** Redacts a secret in a stream, also across chunks. Keeps the length; holds back less than the secret's longest spelling. */
export interface StreamRedactor {
  /** Takes the next chunk and returns the bytes that are ready to be sent. */
  push(chunk: Buffer): Buffer;
  /** Returns the bytes that were held back. */
  end(): Buffer;
}

export function createStreamRedactor(secret: Secret): StreamRedactor {
  const keep = Math.max(0, secret.maxSpellingBytes - 1);
  let held: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      const bytes = Buffer.concat([held, chunk]);
      secret.redactBytes(bytes);
      const ready = Math.max(0, bytes.length - keep);
      held = bytes.subarray(ready);
      return bytes.subarray(0, ready);
    },
    end() {
      const rest = held;
      held = Buffer.alloc(0);
      return rest;
    },
  };
}
