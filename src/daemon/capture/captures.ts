import { CaptureFile, removeCaptureFiles } from "../../adapters/capture/capture-file.ts";
import { fixOf } from "../../adapters/system-fix.ts";
import type { CapturedExchange, CapturedSummary, CaptureStatus } from "../../core/capture/captured.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { toPrintable } from "../../core/text/printable.ts";
import type { Captures, Clock, ConfigStatus, Log, Tap, TappedRequest } from "../../ports.ts";
import { Capture } from "./capture.ts";
import { HeldBytes, HeldExchange } from "./held-exchange.ts";

/** How much all captures together may take on the disk. */
const MOST_BYTES = 200_000_000;

/** How many there may be at a time. Each has a file open. */
const MOST_CAPTURES = 16;

/** How often it is looked whether one is over. A timer for the end itself would be late by as long as the computer slept. */
const LOOK_MS = 1_000;

/** What captures are kept with. */
interface CaptureParts {
  /** Where their files are opened: the directory of the state. */
  directory: string;
  clock: Clock;
  log: Log;
  /** Every key in memory. */
  secrets(): readonly Secret[];
  /** Publishes that one begins or ends. */
  announce(notice: string): void;
  /** Returns the configuration in force. */
  config(): Pick<Config, "capture">;
  /** The managed configuration file in force, and what it locks; null without one. */
  managed(): ConfigStatus["managed"];
}

/** The longest that one may run, and that it may be kept afterwards. */
const LONGEST_MS = 24 * 3_600_000;

/** What a person asks for. */
interface CaptureWish {
  tool: string;
  /** For how many milliseconds requests are taken. */
  forMs: number;
  /** For how many milliseconds they are kept afterwards. */
  keepMs: number;
  /** How many requests are taken; null for any number. */
  most: number | null;
}

/** Copies requests and responses of a tool while a person has asked for that, and deletes the copies when their time is over. */
export class DaemonCaptures implements Captures {
  readonly #parts: CaptureParts;
  readonly #held = new HeldBytes();
  /** With the time of the monotonic clock at which each is deleted at the latest, whatever the other clock says. */
  readonly #captures = new Map<Capture, number>();
  /** Those whose end is not announced yet. */
  readonly #running = new Set<Capture>();
  #timer: NodeJS.Timeout | null = null;
  #count = 0;
  isOn = false;

  constructor(parts: CaptureParts) {
    this.#parts = parts;
  }

  /** Removes the name of a file that a daemon has left which was killed before it could do so. */
  removeLeftovers(): void {
    const { directory, log } = this.#parts;
    try {
      removeCaptureFiles(directory);
    } catch (error) {
      log.warn({ reason: messageOf(error) }, "an empty file of a capture cannot be removed");
    }
  }

  open(request: TappedRequest, before: Tap | null): Tap | null {
    if (!request.isOfOwner) return null;
    const now = this.#parts.clock.now();
    const isWanted = [...this.#captures.keys()].some(
      (capture) => capture.isRunning(now) && (request.isProvisional || capture.asked.tool === request.tool),
    );
    if (!isWanted) return null;
    const sentBefore = before instanceof HeldExchange ? before.request : null;
    return new HeldExchange(request, sentBefore, this.#held, (held, record) => void this.#end(held, record));
  }

  /** Begins a capture. @throws Failure when it may not begin, or its file cannot be created */
  async start({ tool, forMs, keepMs, most }: CaptureWish): Promise<CaptureStatus> {
    const { clock, directory, announce } = this.#parts;
    this.#refuseForbidden();
    for (const ms of [forMs, keepMs])
      if (!(ms > 0 && ms <= LONGEST_MS))
        throw new Failure("a capture runs for up to 24 hours, and is kept for up to 24 hours afterwards");
    this.#look();
    const now = clock.now();
    const all = [...this.#captures.keys()];
    if (all.some((capture) => capture.isRunning(now) && capture.asked.tool === tool))
      throw new Failure(
        `a capture of ${toPrintable(tool)} is running already`,
        `to end it, type: tollkeeper capture stop ${tool}`,
      );
    if (all.length >= MOST_CAPTURES)
      throw new Failure(
        `there are ${MOST_CAPTURES} captures already`,
        "to delete all of them, type: tollkeeper capture delete --all",
      );
    const file = await CaptureFile.create(directory).catch((error: unknown) => {
      throw new Failure(`the file of the capture cannot be created: ${messageOf(error)}`, fixOf(error));
    });
    this.#count += 1;
    const id = String(this.#count);
    const until = now + forMs;
    const capture = new Capture({ id, tool, startedAt: now, until, deletedAt: until + keepMs, most }, file);
    this.#captures.set(capture, clock.monotonic() + forMs + keepMs);
    this.#running.add(capture);
    this.#look();
    const minutes = Math.ceil(forMs / 60_000);
    announce(
      `requests and responses of ${toPrintable(tool)} are captured for ${minutes} min; to stop, type: tollkeeper capture stop ${toPrintable(tool)}`,
    );
    return capture.describe(now);
  }

  /** Ends the capture of a tool that runs. Returns null when none does. */
  stop(tool: string): CaptureStatus | null {
    const now = this.#parts.clock.now();
    const found = [...this.#captures.keys()].find(
      (capture) => capture.isRunning(now) && capture.asked.tool === tool,
    );
    if (found === undefined) return null;
    this.#endEarly(found, "stopped");
    return found.describe(now);
  }

  /** Deletes a capture, or with null all of them. Resolves to how many there were. */
  async delete(id: string | null): Promise<number> {
    const meant = [...this.#captures.keys()].filter((capture) => id === null || capture.asked.id === id);
    await Promise.all(meant.map((capture) => this.#delete(capture)));
    return meant.length;
  }

  /** All that are not deleted, the oldest first. */
  describe(): CaptureStatus[] {
    this.#look();
    const now = this.#parts.clock.now();
    return [...this.#captures.keys()].map((capture) => capture.describe(now));
  }

  /** The requests of all captures, in the order in which they ended. */
  list(): CapturedSummary[] {
    this.#look();
    return [...this.#captures.keys()].flatMap(({ summaries }) => summaries);
  }

  /** Returns a captured exchange by the id of its record; null if there is none. Rejects with an error when it cannot be read. */
  async read(id: string): Promise<CapturedExchange | null> {
    this.#look();
    for (const capture of this.#captures.keys()) {
      const found = await capture.read(id);
      if (found !== null) return found;
    }
    return null;
  }

  /** A configuration is in force: one that forbids captures deletes them. */
  use({ capture }: Pick<Config, "capture">): void {
    if (capture || this.#captures.size === 0) return;
    this.#parts.announce("the configuration forbids captures: all of them are deleted");
    void this.delete(null);
  }

  /** Deletes all. */
  async close(): Promise<void> {
    await this.delete(null);
  }

  #refuseForbidden(): void {
    const { config, managed } = this.#parts;
    if (config().capture) return;
    const file = managed();
    const isLocked = file?.locked.includes("capture") === true;
    throw new Failure(
      isLocked
        ? `captures are forbidden: the administrator's file ${file?.path ?? ""} locks "capture"`
        : 'captures are forbidden: the configuration has "capture": false',
      isLocked ? undefined : "to allow them, type: tollkeeper config set capture true",
    );
  }

  /** Looks at the time: ends what is over, and deletes what has been kept long enough. */
  #look(): void {
    const { clock } = this.#parts;
    const [now, tick] = [clock.now(), clock.monotonic()];
    for (const [capture, deletedTick] of this.#captures)
      if (now >= capture.asked.deletedAt || tick >= deletedTick) void this.#delete(capture);
    for (const capture of this.#running) if (!capture.isRunning(now)) this.#announceEnd(capture);
    this.isOn = this.#running.size > 0;
    if (this.#captures.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    } else if (this.#captures.size > 0) this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  async #delete(capture: Capture): Promise<void> {
    this.#captures.delete(capture);
    capture.end(this.#parts.clock.now(), "deleted");
    this.#look();
    await capture.delete().catch((error: unknown) => {
      this.#parts.log.error({ err: error }, "the file of a capture cannot be closed");
    });
  }

  #endEarly(capture: Capture, reason: string): void {
    capture.end(this.#parts.clock.now(), reason);
    this.#look();
  }

  #announceEnd(capture: Capture): void {
    this.#running.delete(capture);
    const { tool, ended, requests } = capture.describe(this.#parts.clock.now());
    const why = ended === null ? "" : `: ${ended}`;
    const count = requests === 1 ? "1 request" : `${requests} requests`;
    this.#parts.announce(`the capture of ${toPrintable(tool)} has ended with ${count}${why}`);
  }

  /** Keeps an exchange that has ended. What goes wrong ends the capture, and nothing else. */
  async #end(held: HeldExchange, record: UsageRecord): Promise<void> {
    const started = Date.parse(record.ts);
    const meant = [...this.#captures.keys()].find(
      (capture) => capture.asked.tool === record.tool && capture.ranAt(started),
    );
    try {
      // Another attempt may take over the request's body in this turn of the event loop.
      await Promise.resolve();
      if (meant === undefined) return;
      await meant.keep(held, record, this.#parts.secrets(), (bytes) => this.#requireRoom(bytes));
      const { most } = meant.asked;
      if (most !== null && meant.summaries.length >= most && meant.isRunning(this.#parts.clock.now()))
        this.#endEarly(meant, `it has ${most} requests`);
    } catch (error) {
      if (meant?.isRunning(this.#parts.clock.now()) === true) this.#endEarly(meant, explain(error));
    } finally {
      held.drop();
    }
  }

  /** @throws Failure */
  #requireRoom(length: number): void {
    const taken = [...this.#captures.keys()].reduce((sum, { bytes }) => sum + bytes, 0);
    if (taken + CaptureFile.sizeOf(length) > MOST_BYTES)
      throw new Failure("captures have all of their 200 MB");
  }
}

function explain(error: unknown): string {
  if (error instanceof Failure) return error.message;
  const isFull = hasCode(error, "ENOSPC") || hasCode(error, "EDQUOT");
  return isFull ? "the disk is full" : `it cannot be written: ${messageOf(error)}`;
}
