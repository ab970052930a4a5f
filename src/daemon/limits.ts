import { readStateFile, writeStateFile } from "../adapters/state-file.ts";
import type { Choice } from "../core/decide/choose-upstream.ts";
import type { Settings } from "../core/decide/settings.ts";
import { messageOf } from "../core/failure.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import type { JsonObject } from "../core/json.ts";
import { localCalendar } from "../core/ledger/calendar.ts";
import {
  addReadings,
  describeLimits,
  encodeLimits,
  nameAccount,
  parseLimits,
  type AccountStatus,
} from "../core/limits/account-limits.ts";
import { judgeKeep, keepsAny, listHolds, type LimitHold } from "../core/limits/keep.ts";
import { describeLimitWarning } from "../core/limits/describe-limits.ts";
import {
  findLimitWarnings,
  readServiceWords,
  type SeenWindow,
  type ServiceWords,
} from "../core/limits/limit-warnings.ts";
import {
  hasLimits,
  readLimitEvent,
  readLimits,
  repeatsLimits,
  type WindowReading,
} from "../core/limits/read-limits.ts";
import { noteResets, parseResets, type WindowResets } from "../core/limits/window-history.ts";
import type { Brake } from "../core/policy/brake.ts";
import type { Refusal } from "../core/refusals/refusal.ts";
import type { Clock, Limits, Log } from "../ports.ts";

/** A crash loses at most this much. Each response may change something, and no file is to be written for each. */
const SAVE_AFTER_MS = 5 * 60_000;

/** A response is read at most this much later, so that a warning is not late. Under load that is one in some hundreds. */
const READ_AFTER_MS = 10_000;

/** Where a response comes from. */
type From = Pick<Choice, "upstream" | "key">;

/** A response whose headers are not read yet. */
interface HeldResponse {
  status: number;
  headers: HeaderIndex;
  /** In milliseconds since 1970. */
  at: number;
}

/** What limits are kept with. */
interface LimitParts {
  /** The file in which they survive a restart. */
  path: string;
  clock: Pick<Clock, "now">;
  log: Log;
  /** Publishes a warning. */
  warn: (notice: string) => void;
}

/** Keeps what upstreams last said of each account's limits. Never asks for it. Warns at 80 and 95%, or when the service does. */
export class DaemonLimits implements Limits {
  readonly #parts: LimitParts;
  readonly #calendar = localCalendar();
  readonly #seen: Map<string, Map<string, SeenWindow>>;
  /** When the windows of each account have reset: reports by window need it. */
  readonly #resets: Map<string, WindowResets>;
  /**
   * The last response of each account. It is read when somebody asks, because the next one usually says it all again: to read each at
   * once costs some 10 µs (docs/performance.md).
   */
  readonly #held = new Map<string, HeldResponse>();
  /** Runs while a response is held, which may be one to warn of. */
  #reader: NodeJS.Timeout | null = null;
  /** Runs while something is not saved. */
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: LimitParts) {
    this.#parts = parts;
    const { seen, resets } = this.#read();
    this.#seen = seen;
    this.#resets = resets;
  }

  sawResponse(from: From, status: number, headers: HeaderIndex): void {
    if (!hasLimits(status, headers)) return;
    const account = nameAccount(from);
    const before = this.#held.get(account);
    if (before !== undefined && !repeatsLimits(headers, before)) this.#readHeld(account, before);
    this.#held.set(account, { status, headers, at: this.#parts.clock.now() });
    this.#reader ??= setTimeout(() => this.#readLate(), READ_AFTER_MS).unref();
    this.#saveLater();
  }

  sawEvent(from: From, fields: JsonObject): void {
    const now = this.#parts.clock.now();
    const readings = readLimitEvent(fields, now);
    if (readings.length === 0) return;
    this.#readAllHeld();
    this.#add(nameAccount(from), readings, NO_WORDS, now);
    this.#saveLater();
  }

  judge(brakes: readonly Brake[], from: From): Refusal | null {
    if (!keepsAny(brakes)) return null;
    const account = nameAccount(from);
    const held = this.#held.get(account);
    if (held !== undefined) this.#readHeld(account, held);
    return judgeKeep(brakes, account, this.#seen.get(account), this.#parts.clock.now(), this.#calendar);
  }

  /** Lists the brakes that refuse requests now, to keep what is left. */
  listHolds(settings: Settings): LimitHold[] {
    this.#readAllHeld();
    return listHolds(settings, this.#seen, this.#parts.clock.now());
  }

  /** Describes what is known now. */
  describe(): AccountStatus[] {
    this.#readAllHeld();
    return describeLimits(this.#seen, this.#parts.clock.now());
  }

  /** Forgets the accounts at an upstream: it has another address now. */
  forget(upstream: string): void {
    this.#readAllHeld();
    for (const account of this.#seen.keys())
      if (account === upstream || account.startsWith(`${upstream}/`)) {
        this.#seen.delete(account);
        this.#resets.delete(account);
      }
    this.#saveLater();
  }

  /** Saves what is not saved. */
  close(): void {
    if (this.#timer !== null) this.#save();
    if (this.#reader !== null) clearTimeout(this.#reader);
    this.#reader = null;
  }

  #readLate(): void {
    this.#readAllHeld();
    this.#reader = null;
  }

  #readAllHeld(): void {
    for (const [account, response] of this.#held) this.#readHeld(account, response);
  }

  #readHeld(account: string, { status, headers, at }: HeldResponse): void {
    this.#held.delete(account);
    this.#add(account, readLimits(status, headers, at), readServiceWords(headers), at);
  }

  #add(account: string, readings: readonly WindowReading[], words: ServiceWords, at: number): void {
    if (readings.length === 0) return;
    const windows = addReadings(this.#seen.get(account), readings, at);
    this.#seen.set(account, windows);
    const warnings = findLimitWarnings(windows, readings, words, at);
    for (const warning of warnings) {
      windows.set(warning.window.window, warning.window);
      this.#parts.warn(describeLimitWarning(account, warning, this.#parts.clock.now(), this.#calendar));
    }
    const known = this.#resets.get(account) ?? NO_RESETS;
    const resets = noteResets(known, readings);
    this.#resets.set(account, resets);
    // After a crash the same warning must not come again. Reports read from the file when windows began.
    if (warnings.length > 0 || resets !== known) this.#write();
  }

  #saveLater(): void {
    this.#timer ??= setTimeout(() => this.#save(), SAVE_AFTER_MS).unref();
  }

  #save(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#readAllHeld();
    this.#write();
  }

  #write(): void {
    const { path, log } = this.#parts;
    try {
      writeStateFile(path, encodeLimits(this.#seen, this.#resets));
    } catch (error) {
      log.warn({ file: path, reason: messageOf(error) }, "what services said of limits cannot be saved");
    }
  }

  #read(): { seen: Map<string, Map<string, SeenWindow>>; resets: Map<string, WindowResets> } {
    const { path, log } = this.#parts;
    try {
      const text = readStateFile(path);
      const seen = text === null ? new Map<string, Map<string, SeenWindow>>() : parseLimits(text);
      if (seen !== null) return { seen, resets: parseResets(text ?? "") };
      log.warn({ file: path }, FORGOTTEN);
    } catch (error) {
      log.warn({ file: path, reason: messageOf(error) }, FORGOTTEN);
    }
    return { seen: new Map(), resets: new Map() };
  }
}

const NO_RESETS: WindowResets = new Map();

/** An event has figures only. */
const NO_WORDS: ServiceWords = new Map();

const FORGOTTEN = "what services said of limits cannot be read: it is known again after the next responses";
