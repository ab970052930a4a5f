import { hash, randomBytes } from "node:crypto";
import { formatLocalToken } from "../../core/secrets/local-token.ts";

/** 256 random bits cannot be guessed. */
const RANDOM_BYTES = 32;

/** Creates a new token for a tool. */
export function mintToken(tool: string): string {
  return formatLocalToken(tool, randomBytes(RANDOM_BYTES).toString("base64url"));
}

/**
 * Returns the SHA-256 of a token, which is what is stored and compared. A slow, salted hash would protect guessable passwords;
 * random bits need no such protection, and every request would pay for it.
 */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
