import { dayNumber } from "../../core/ledger/day.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { Clock, LedgerHealth, LedgerLocation, Log } from "../../ports.ts";
import { Backlog, type PendingLine } from "./backlog.ts";
import { DayFile, repairDayFiles } from "./day-file.ts";
import type { Notes } from "./notes.ts";
import { ensurePrivateDirectory, ensureSafeDirectory, refuseUnwritable } from "./private-file.ts";
import { fixOf } from "../system-fix.ts";

const RETRY_MS = 1000;
/** How often the open file is compared with its path. */
const CHECK_MS = 1000;
const LOG_INTERVAL_MS = 60_000;

/** Where a ledger is kept and for how long, with the clock and the log to use. */
export interface LedgerOptions extends LedgerLocation {
  clock: Clock;
  log: Log;
  /** Is called when it opens, and before the first record of each day: days may be over, or expired. `now` is in milliseconds since 1970. */
  onNewDay(location: LedgerLocation, now: number): void;
}

/**
 * Appends lines to their day's file, in order, and survives disk faults: a line that cannot be written goes to a bounded
 * backlog, and later lines queue behind it until the disk accepts writes again (SECURITY.md E2).
 */
export class LineWriter {
  /** How many bytes were appended in this directory, by day. */
  readonly appended = new Map<string, number>();
  #options: LedgerOptions;
  readonly #notes: Notes;
  readonly #backlog = new Backlog();
  #file: DayFile | null = null;
  #checkedAt = 0;
  #noticedDay = NaN;
  #written = 0;
  #lost = 0;
  /** When the last write failed, by the monotonic clock; null after a successful one. */
  #failedAt: number | null = null;
  #lastError: unknown = null;
  #failureLoggedAt: number | null = null;
  #isFailureLogged = false;
  #retryTimer: NodeJS.Timeout | null = null;

  /** Throws a Failure when the directory cannot be created, or when it or a file in it is unsafe. */
  constructor(options: LedgerOptions, notes: Notes) {
    this.#options = options;
    this.#notes = notes;
    try {
      ensurePrivateDirectory(options.directory);
      repairDayFiles(options.directory, options.log);
    } catch (error) {
      if (error instanceof Failure) throw error;
      this.#onFault(error);
      this.#logFailure();
    }
    this.#noticeNewDay();
  }

  /** Writes the entries before it returns, if the disk accepts them. Never throws. */
  write(entries: readonly PendingLine[]): void {
    this.#noticeNewDay();
    const written = this.#isRetryDue() && this.#flush() ? this.#append(entries) : 0;
    if (written === entries.length) {
      this.#logRecovery();
      return;
    }
    for (const entry of entries.slice(written)) if (!this.#backlog.push(entry)) this.#lost += 1;
    this.#logFailure();
    this.#scheduleRetry();
  }

  /**
   * Continues in another directory, or with another retention. A new retention applies from the next day on, so that a
   * mistake in the configuration can be corrected before anything is deleted. Throws what the constructor throws, and a
   * Failure for a directory that is not writable.
   */
  moveTo(location: LedgerLocation): void {
    const { directory, log } = this.#options;
    const isElsewhere = location.directory !== directory;
    if (isElsewhere) {
      ensurePrivateDirectory(location.directory);
      refuseUnwritable(location.directory);
      repairDayFiles(location.directory, log);
    }
    this.#options = { ...this.#options, ...location };
    if (!isElsewhere) return;
    log.info({ from: directory, to: location.directory }, "the ledger continues in another directory");
    this.#closeFile();
    this.appended.clear();
    if (this.#flush()) this.#logRecovery();
  }

  /** Lines that are still to be written, oldest first. */
  get waiting(): string[] {
    return this.#backlog.lines;
  }

  health(): LedgerHealth {
    return {
      directory: this.#options.directory,
      written: this.#written,
      waiting: this.#backlog.length,
      lost: this.#lost,
      lastError: this.#lastError === null ? null : messageOf(this.#lastError),
    };
  }

  /** Writes the backlog, if the disk accepts it, and closes the file. A later write opens it again. */
  close(): void {
    const { log } = this.#options;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    if (this.#flush()) this.#logRecovery();
    else
      log.error(
        { lost: this.#backlog.length },
        "the ledger was closed with records that could not be written",
      );
    this.#closeFile();
  }

  #isRetryDue(): boolean {
    return this.#failedAt === null || this.#options.clock.monotonic() - this.#failedAt >= RETRY_MS;
  }

  /** Retries by timer, because the next request may be hours away. */
  #scheduleRetry(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = null;
      if (this.#flush()) this.#logRecovery();
      else this.#scheduleRetry();
    }, RETRY_MS).unref();
  }

  /** Writes the backlog. Returns true when it is empty. */
  #flush(): boolean {
    for (let entry = this.#backlog.first; entry !== undefined; entry = this.#backlog.first) {
      if (this.#append([entry]) === 0) return false;
      this.#backlog.dropFirst();
    }
    return true;
  }

  /** Appends the entries, those of one day with one write. Returns how many of them are written: all, unless the disk refuses. */
  #append(entries: readonly PendingLine[]): number {
    let from = 0;
    while (from < entries.length) {
      const to = findEndOfDay(entries, from);
      from += this.#appendToDay(entries.slice(from, to));
      if (from < to) break;
    }
    return from;
  }

  #appendToDay(entries: readonly PendingLine[]): number {
    const day = entries[0]?.day ?? "";
    const lines = entries.map(({ line }) => line);
    let written = 0;
    try {
      const file = this.#fileFor(day);
      const taken = file.append(lines);
      written = file.isDeleted() ? this.#open(day).append(lines) : taken;
      if (written < lines.length)
        throw new Error(`only ${written} of ${lines.length} records could be written`);
      this.#failedAt = null;
    } catch (error) {
      this.#onFault(error);
    }
    this.#written += written;
    for (const { noteId } of entries.slice(0, written)) if (noteId !== null) this.#notes.remove(noteId);
    return written;
  }

  /** Returns the open file when it is that day's and still at its path; otherwise opens the day's file. */
  #fileFor(day: string): DayFile {
    const now = this.#options.clock.monotonic();
    const isCheckDue = now - this.#checkedAt >= CHECK_MS;
    if (isCheckDue) this.#checkedAt = now;
    if (this.#file?.day === day && (!isCheckDue || this.#file.isInPlace())) return this.#file;
    return this.#open(day);
  }

  #open(day: string): DayFile {
    const { directory, log } = this.#options;
    this.#closeFile();
    ensureSafeDirectory(directory);
    this.#file = DayFile.open(directory, day, log, this.appended);
    return this.#file;
  }

  /** Closes the file after any fault: opening it repeats all checks and ends a torn line. */
  #onFault(error: unknown): void {
    this.#failedAt = this.#options.clock.monotonic();
    this.#lastError = error;
    this.#closeFile();
  }

  #closeFile(): void {
    this.#file?.close();
    this.#file = null;
  }

  #noticeNewDay(): void {
    const { directory, retainDays, clock, onNewDay } = this.#options;
    const now = clock.now();
    const today = dayNumber(now);
    if (today === this.#noticedDay) return;
    this.#noticedDay = today;
    onNewDay({ directory, retainDays }, now);
  }

  #logFailure(): void {
    const { clock, directory, log } = this.#options;
    const now = clock.monotonic();
    if (this.#failureLoggedAt !== null && now - this.#failureLoggedAt < LOG_INTERVAL_MS) return;
    this.#failureLoggedAt = now;
    this.#isFailureLogged = true;
    const hint = fixOf(this.#lastError);
    const reason = messageOf(this.#lastError);
    log.error(
      { about: "ledger", directory, reason, hint, waiting: this.#backlog.length, lost: this.#lost },
      "the ledger cannot be written; records wait in memory",
    );
  }

  #logRecovery(): void {
    if (!this.#isFailureLogged) return;
    this.#isFailureLogged = false;
    this.#options.log.info({ written: this.#written, lost: this.#lost }, "the ledger is written again");
  }
}

/** Returns the index behind the entries from `from` on that are of the same day. */
function findEndOfDay(entries: readonly PendingLine[], from: number): number {
  const to = entries.findIndex(({ day }, at) => at > from && day !== entries[from]?.day);
  return to === -1 ? entries.length : to;
}
