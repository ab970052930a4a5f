import { readStateFile, writeStateFile } from "../adapters/state-file.ts";
import type { Choice } from "../core/decide/choose-upstream.ts";
import { messageOf } from "../core/failure.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import type { JsonObject } from "../core/json.ts";
import {
  addReadings,
  describeLimits,
  encodeLimits,
  nameAccount,
  parseLimits,
  type AccountStatus,
  type SeenWindow,
} from "../core/limits/account-limits.ts";
import { hasLimits, readLimitEvent, readLimits, type WindowReading } from "../core/limits/read-limits.ts";
import type { Clock, Limits, Log } from "../ports.ts";

/** A crash loses at most this much. Each response may change something, and no file is to be written for each. */
const SAVE_AFTER_MS = 5 * 60_000;

/** Where a response comes from. */
type From = Pick<Choice, "upstream" | "key">;

/** What limits are kept with. */
interface LimitParts {
  /** The file in which they survive a restart. */
  path: string;
  clock: Pick<Clock, "now">;
  log: Log;
}

/** Keeps what upstreams last said of each account's limits. Never asks for it. */
export class DaemonLimits implements Limits {
  readonly #parts: LimitParts;
  readonly #seen: Map<string, Map<string, SeenWindow>>;
  /** Runs while something is not saved. */
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: LimitParts) {
    this.#parts = parts;
    this.#seen = this.#read();
  }

  sawResponse(from: From, status: number, headers: HeaderIndex): void {
    if (!hasLimits(status, headers)) return;
    const now = this.#parts.clock.now();
    this.#add(from, readLimits(status, headers, now), now);
  }

  sawEvent(from: From, fields: JsonObject): void {
    const now = this.#parts.clock.now();
    this.#add(from, readLimitEvent(fields, now), now);
  }

  /** Describes what is known now. */
  describe(): AccountStatus[] {
    return describeLimits(this.#seen, this.#parts.clock.now());
  }

  /** Forgets the accounts at an upstream: it has another address now. */
  forget(upstream: string): void {
    for (const account of this.#seen.keys())
      if (account === upstream || account.startsWith(`${upstream}/`)) this.#seen.delete(account);
    this.#saveLater();
  }

  /** Saves what is not saved. */
  close(): void {
    if (this.#timer !== null) this.#save();
  }

  #add(from: From, readings: readonly WindowReading[], now: number): void {
    if (readings.length === 0) return;
    const account = nameAccount(from);
    this.#seen.set(account, addReadings(this.#seen.get(account), readings, now));
    this.#saveLater();
  }

  #saveLater(): void {
    this.#timer ??= setTimeout(() => this.#save(), SAVE_AFTER_MS).unref();
  }

  #save(): void {
    const { path, log } = this.#parts;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    try {
      writeStateFile(path, encodeLimits(this.#seen));
    } catch (error) {
      log.warn({ file: path, reason: messageOf(error) }, "what services said of limits cannot be saved");
    }
  }

  #read(): Map<string, Map<string, SeenWindow>> {
    const { path, log } = this.#parts;
    try {
      const text = readStateFile(path);
      const seen = text === null ? new Map<string, Map<string, SeenWindow>>() : parseLimits(text);
      if (seen !== null) return seen;
      log.warn({ file: path }, FORGOTTEN);
    } catch (error) {
      log.warn({ file: path, reason: messageOf(error) }, FORGOTTEN);
    }
    return new Map();
  }
}

const FORGOTTEN = "what services said of limits cannot be read: it is known again after the next responses";
