import { listOf, nullOr, objectOf, TEXT } from "../../core/data-shape.ts";
import { messageOf } from "../../core/failure.ts";
import { isObject } from "../../core/json.ts";
import { readStateFile, writeStateFile } from "../../adapters/state-file.ts";
import type { Clock, Log } from "../../ports.ts";

/** A look reads the records of four weeks, so it is rare. In milliseconds. */
const LOOK_EVERY_MS = 10 * 60_000;

/** What a look at the ledger found. */
interface OutlierParts {
  /** The file that says what was announced today, so that a restart does not repeat it. */
  path: string;
  /** Has our own command answer; null if too many questions wait. */
  ask: (
    words: readonly string[],
    isOver: AbortSignal,
  ) => Promise<{ code: number | null; stdout: string }> | null;
  /** True while somebody would see a notice. */
  isWatched: () => boolean;
  /** How many records were written since the start. */
  recordsWritten: () => number;
  /** Publishes a notice. */
  announce: (notice: string) => void;
  clock: Pick<Clock, "now">;
  log: Log;
}

interface Outlier {
  text: string;
  command: string;
  /** Its session; null for an hour. */
  session: string | null;
}

const OUTLIERS = listOf(objectOf<Outlier>({ text: TEXT, command: TEXT, session: nullOr(TEXT) }));

/** What is out of line on a day, as `digest --today` says it. */
export interface OutOfLine {
  /** When the day began, in ISO 8601. */
  since: string;
  /** False where too little is recorded before it to say so. */
  isKnown: boolean;
  items: readonly Outlier[];
}
const TOLD = objectOf<Told>({ since: TEXT, told: listOf(TEXT) });

/** The members of an item that tell it from others of its day. What it used grows. */
const IDENTITY = ["kind", "tool", "project", "session", "agent", "hour", "request"] as const;

/** What was announced of a day. */
interface Told {
  since: string;
  told: string[];
}

/**
 * Announces what is out of line today, once each, while somebody watches. Our own command judges it, in a process of its own: that
 * needs prices, and the memory of a reader. Nothing is read while nothing is recorded.
 */
export class OutlierWatch {
  readonly #parts: OutlierParts;
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** How many records there were at the last look. */
  #seen = 0;
  #looking: Promise<void> | null = null;
  /** When the last look began, in milliseconds since 1970. */
  #lookedAt = -Infinity;
  #found: OutOfLine | null = null;

  constructor(parts: OutlierParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /** Looks at once, if something was recorded since the last look and somebody watches. Never rejects. */
  async look(): Promise<void> {
    const { isWatched, recordsWritten } = this.#parts;
    if (recordsWritten() !== this.#seen && isWatched()) await this.#lookOnce();
  }

  /** Returns what is out of line today. Looks first if nothing is known of today, or of the latest records, but as seldom as else. Never rejects. */
  async today(): Promise<OutOfLine | null> {
    const { clock, recordsWritten } = this.#parts;
    const isOld = clock.now() - this.#lookedAt >= LOOK_EVERY_MS;
    if (isOld && (this.#ofToday() === null || recordsWritten() !== this.#seen)) await this.#lookOnce();
    else await this.#looking;
    return this.#ofToday();
  }

  #ofToday(): OutOfLine | null {
    const day = new Date(this.#parts.clock.now()).toDateString();
    return this.#found !== null && new Date(this.#found.since).toDateString() === day ? this.#found : null;
  }

  /** Several who ask at the same time wait for the same look. */
  #lookOnce(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => (this.#looking = null));
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    const { ask, clock, recordsWritten, log } = this.#parts;
    this.#seen = recordsWritten();
    this.#lookedAt = clock.now();
    try {
      const answer = await ask(["digest", "--today", "--json"], this.#over.signal);
      if (answer?.code === 0) this.#take(JSON.parse(answer.stdout));
    } catch (error) {
      log.debug({ reason: messageOf(error) }, "what is out of line could not be found");
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#over.abort();
  }

  #take(digest: unknown): void {
    if (!isObject(digest) || typeof digest["since"] !== "string") return;
    const { since, total, out_of_line: items } = digest;
    if (OUTLIERS.findFault(items, "") !== null) return;
    const outliers = items as (Outlier & Record<string, unknown>)[];
    const isKnown = isObject(total) && total["usual"] !== null;
    this.#found = {
      since,
      isKnown,
      items: outliers.map(({ text, command, session }) => ({ text, command, session })),
    };
    this.#tell(since, outliers);
  }

  #tell(since: string, items: readonly (Outlier & Record<string, unknown>)[]): void {
    const before = this.#read();
    const told = new Set(before?.since === since ? before.told : []);
    const count = told.size;
    for (const item of items) {
      const name = JSON.stringify(IDENTITY.map((member) => item[member] ?? null));
      if (told.has(name)) continue;
      told.add(name);
      this.#parts.announce(`out of line: ${item.text}; for more, type: ${item.command}`);
    }
    if (told.size > count) writeStateFile(this.#parts.path, JSON.stringify({ since, told: [...told] }));
  }

  #read(): Told | null {
    const text = readStateFile(this.#parts.path);
    const known: unknown = text === null ? null : JSON.parse(text);
    return TOLD.findFault(known, "") === null ? (known as Told) : null;
  }
}
