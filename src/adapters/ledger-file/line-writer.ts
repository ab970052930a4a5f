import { dayNumber } from "../../core/ledger/day.ts";
import { Failure } from "../../core/failure.ts";
import { messageOf } from "../../core/thrown.ts";
import type { Clock, LedgerHealth, LedgerPlace, Log } from "../../ports.ts";
import { Backlog, type Entry } from "./backlog.ts";
import { DayFile } from "./day-file.ts";
import { refuseUnwritable, secureDirectory } from "./own-file.ts";
import { deleteOldDays, mendDays } from "./tidy.ts";

const RETRY_MS = 1000;
const CHECK_MS = 1000;
const ANNOUNCE_MS = 60_000;

/** Where a ledger is kept, for how long, and what it is told the time by. */
export interface LedgerOptions extends LedgerPlace {
  clock: Clock;
  log: Log;
}

/**
 * Puts lines into their day's file, in order, whatever becomes of the disk: what it refuses waits in a bounded backlog,
 * and everything later waits behind it, until an append finds the disk willing again (facts/threats.md E2).
 */
export class LineWriter {
  #options: LedgerOptions;
  readonly #backlog = new Backlog();
  #file: DayFile | null = null;
  #checkedAt = 0;
  #tidiedOn = NaN;
  #written = 0;
  #lost = 0;
  /** Set while the disk refuses, by the monotonic clock; null while all is well. */
  #failedAt: number | null = null;
  #lastError: unknown = null;
  #announcedAt: number | null = null;
  #mustSayRecovered = false;
  #retryTimer: NodeJS.Timeout | null = null;

  /** Throws a Failure when the directory cannot be made, or it or a file in it is unsafe. */
  constructor(options: LedgerOptions) {
    this.#options = options;
    try {
      secureDirectory(options.directory);
      mendDays(options.directory, options.log);
    } catch (error) {
      if (error instanceof Failure) throw error;
      this.#fail(error);
      this.#announce();
    }
    this.#tidyOnNewDay();
  }

  /** Writes the entry before it returns if the disk lets it; never throws. */
  write(entry: Entry): void {
    this.#tidyOnNewDay();
    if (this.#mayTry() && this.#flush() && this.#put(entry)) {
      this.#sayRecovered();
      return;
    }
    if (!this.#backlog.push(entry)) this.#lost += 1;
    this.#announce();
    this.#retryLater();
  }

  /**
   * Goes on in another directory, or with another retention. That holds from the next day on: a slip in an editor must
   * not have deleted anything before it is mended. Throws as the constructor does, and what the disk refuses it with.
   */
  moveTo(place: LedgerPlace): void {
    const { directory, log } = this.#options;
    const isElsewhere = place.directory !== directory;
    if (isElsewhere) {
      secureDirectory(place.directory);
      refuseUnwritable(place.directory);
      mendDays(place.directory, log);
    }
    this.#options = { ...this.#options, ...place };
    if (!isElsewhere) return;
    log.info({ from: directory, to: place.directory }, "the ledger goes on in another directory");
    this.#closeFile();
    if (this.#flush()) this.#sayRecovered();
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

  /** Writes what waits, if the disk lets it, and gives the file back. A record that comes later opens it again. */
  close(): void {
    const { log } = this.#options;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#retryTimer = null;
    if (this.#flush()) this.#sayRecovered();
    else
      log.error(
        { lost: this.#backlog.length },
        "the ledger is closed with records that could not be written",
      );
    this.#closeFile();
  }

  #mayTry(): boolean {
    return this.#failedAt === null || this.#options.clock.monotonic() - this.#failedAt >= RETRY_MS;
  }

  /** What waits must not wait for the next request as well, which may be hours away. */
  #retryLater(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = null;
      if (this.#flush()) this.#sayRecovered();
      else this.#retryLater();
    }, RETRY_MS).unref();
  }

  /** True when nothing waits any more. */
  #flush(): boolean {
    for (let entry = this.#backlog.first; entry !== undefined; entry = this.#backlog.first) {
      if (!this.#put(entry)) return false;
      this.#backlog.dropFirst();
    }
    return true;
  }

  #put(entry: Entry): boolean {
    try {
      const file = this.#fileOf(entry.day);
      file.append(entry.line);
      if (file.isDeleted()) this.#open(entry.day).append(entry.line);
    } catch (error) {
      this.#fail(error);
      return false;
    }
    this.#written += 1;
    this.#failedAt = null;
    return true;
  }

  /** The open file when it is that day's and still in its place; otherwise a fresh one. */
  #fileOf(day: string): DayFile {
    const now = this.#options.clock.monotonic();
    const isCheckDue = now - this.#checkedAt >= CHECK_MS;
    if (isCheckDue) this.#checkedAt = now;
    if (this.#file?.day === day && (!isCheckDue || this.#file.isInPlace())) return this.#file;
    return this.#open(day);
  }

  #open(day: string): DayFile {
    const { directory, log } = this.#options;
    this.#closeFile();
    secureDirectory(directory);
    this.#file = DayFile.open(directory, day, log);
    return this.#file;
  }

  /** After any fault the file is opened anew: that looks at everything again, a half-written line included. */
  #fail(error: unknown): void {
    this.#failedAt = this.#options.clock.monotonic();
    this.#lastError = error;
    this.#closeFile();
  }

  #closeFile(): void {
    this.#file?.close();
    this.#file = null;
  }

  #tidyOnNewDay(): void {
    const { directory, retainDays, clock, log } = this.#options;
    const now = clock.now();
    const today = dayNumber(now);
    if (today === this.#tidiedOn) return;
    this.#tidiedOn = today;
    try {
      deleteOldDays(directory, retainDays, now, log);
    } catch (error) {
      log.warn({ directory, reason: messageOf(error) }, "old days of the ledger could not be deleted");
    }
  }

  #announce(): void {
    const { clock, directory, log } = this.#options;
    const now = clock.monotonic();
    if (this.#announcedAt !== null && now - this.#announcedAt < ANNOUNCE_MS) return;
    this.#announcedAt = now;
    this.#mustSayRecovered = true;
    const hint = this.#lastError instanceof Failure ? this.#lastError.hint : undefined;
    const reason = messageOf(this.#lastError);
    log.error(
      { directory, reason, hint, waiting: this.#backlog.length, lost: this.#lost },
      "the ledger cannot be written; records wait in memory",
    );
  }

  #sayRecovered(): void {
    if (!this.#mustSayRecovered) return;
    this.#mustSayRecovered = false;
    this.#options.log.info({ written: this.#written, lost: this.#lost }, "the ledger is written again");
  }
}
