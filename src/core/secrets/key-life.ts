import type { KeySource } from "./key-source.ts";
import type { Secret } from "./secret.ts";

/** How long a key is used, in milliseconds since 1970 by the wall clock, which goes on while a laptop sleeps. */
export interface KeyLife {
  /** From here on a request has it read again, and is sent with the old one. Infinity if the key does not expire. */
  refreshAt: number;
  /** From here on it is not sent any more. Infinity if that is not known. */
  expiresAt: number;
}

/** Of a key that is used until it is replaced. */
export const ENDLESS: KeyLife = { refreshAt: Infinity, expiresAt: Infinity };

/** The part of its life after which a key is refreshed. */
const REFRESH_SHARE = 0.8;

/** By how much less, at random, so that daemons that started together do not ask together. */
const JITTER_SHARE = 0.05;

const [MIN_BACK_OFF_MS, MAX_BACK_OFF_MS] = [1_000, 30_000];

/** Returns the life of a key whose read began at `readAt`. The earlier of what it states and the source's `ttlMs` counts. */
export function lifeOf(secret: Secret, source: KeySource, readAt: number): KeyLife {
  const ttlMs = source.kind === "command" ? (source.ttlMs ?? Infinity) : Infinity;
  const expiresAt = Math.min(secret.expiresAt ?? Infinity, readAt + ttlMs);
  const share = REFRESH_SHARE - JITTER_SHARE * Math.random();
  return { refreshAt: readAt + (expiresAt - readAt) * share, expiresAt };
}

/** Returns how long a source is left alone after so many failures in a row: 1 second, then twice as long each time, up to 30. */
export function backOffMs(failures: number): number {
  return Math.min(MIN_BACK_OFF_MS * 2 ** (failures - 1), MAX_BACK_OFF_MS);
}
