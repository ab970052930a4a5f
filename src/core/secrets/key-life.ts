import type { KeySource } from "./key-source.ts";
import type { Secret } from "./secret.ts";

/** A moment by two clocks, in milliseconds: since 1970 by the wall clock, and the machine's time (`MachineTime`). */
export interface Moment {
  wall: number;
  machine: number;
}

/**
 * How long a key is used. Its length counts by the machine's time, which is right whatever the wall clock is set to. Where it states when it
 * expires, that counts as well, by the wall clock.
 */
export interface KeyLife {
  /** From here on a request has it read again, and is sent with the old one. Infinity if the key does not expire. */
  refreshAt: Moment;
  /** From here on it is not sent any more. Infinity if that is not known. */
  expiresAt: Moment;
  /** From the read to the end, in milliseconds. */
  lengthMs: number;
}

/** Of a key that is used until it is replaced. */
export const ENDLESS: KeyLife = {
  refreshAt: { wall: Infinity, machine: Infinity },
  expiresAt: { wall: Infinity, machine: Infinity },
  lengthMs: Infinity,
};

/** The part of its life after which a key is refreshed. */
const REFRESH_SHARE = 0.8;

/** By how much less, at random, so that daemons that started together do not ask together. */
const JITTER_SHARE = 0.05;

const [MIN_BACK_OFF_MS, MAX_BACK_OFF_MS] = [1_000, 30_000];

/** The longest back-off as a part of a life, for some seven attempts between the refresh and the end. */
const BACK_OFF_SHARE = 1 / 30;

/** Returns the life of a key whose read began at `readAt`. The earlier of what it states and the source's `ttlMs` counts. */
export function lifeOf(secret: Secret, source: KeySource, readAt: Moment): KeyLife {
  const ttlMs = source.kind === "command" ? (source.ttlMs ?? Infinity) : Infinity;
  const statedMs = (secret.expiresAt ?? Infinity) - readAt.wall;
  const lengthMs = Math.min(statedMs, ttlMs);
  const share = REFRESH_SHARE - JITTER_SHARE * Math.random();
  const after = (part: number): Moment => ({
    wall: readAt.wall + statedMs * part,
    machine: readAt.machine + lengthMs * part,
  });
  return { refreshAt: after(share), expiresAt: after(1), lengthMs };
}

/** True from that moment on, by one of the clocks at least. */
export function hasCome({ wall, machine }: Moment, now: Moment): boolean {
  return now.wall >= wall || now.machine >= machine;
}

/** Two clocks are read one after the other, so they differ by a little. */
const DIFFERENCE_MS = 100;

/** Returns when that moment comes, in milliseconds since 1970; Infinity if never. */
export function timeOf({ wall, machine }: Moment, now: Moment): number {
  const byMachine = Math.round(now.wall + machine - now.machine);
  return byMachine < wall - DIFFERENCE_MS ? byMachine : wall;
}

/**
 * Returns how long a source is left alone after so many failures in a row: 1 second, then twice as long each time. At most that is 30
 * seconds, and a thirtieth of `lifeMs`, the life of its last key: otherwise that ends before another attempt.
 */
export function backOffMs(failures: number, lifeMs: number): number {
  const longest = Math.max(MIN_BACK_OFF_MS, Math.min(lifeMs * BACK_OFF_SHARE, MAX_BACK_OFF_MS));
  return Math.min(MIN_BACK_OFF_MS * 2 ** (failures - 1), longest);
}
