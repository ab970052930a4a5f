import { hash, randomBytes } from "node:crypto";
import { writeToken } from "../core/identity/local-token.ts";

/** Nobody guesses 256 random bits, however often he may try. */
const RANDOM_BYTES = 32;

/** A new token of a tool. */
export function mintToken(tool: string): string {
  return writeToken(tool, randomBytes(RANDOM_BYTES).toString("base64url"));
}

/**
 * What is kept of a token, and compared: its SHA-256. A slow, salted hash keeps people's passwords from being guessed by
 * who has stolen the file; of random bits there is nothing to guess, and every request would pay for it.
 */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
