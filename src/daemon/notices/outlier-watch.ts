import { listOf, objectOf, TEXT } from "../../core/data-shape.ts";
import { messageOf } from "../../core/failure.ts";
import { isObject } from "../../core/json.ts";
import { readStateFile, writeStateFile } from "../../adapters/state-file.ts";
import type { Log } from "../../ports.ts";

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
  log: Log;
}

interface Outlier {
  text: string;
  command: string;
}

const OUTLIERS = listOf(objectOf<Outlier>({ text: TEXT, command: TEXT }));
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

  constructor(parts: OutlierParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /** Looks at once, if something was recorded since the last look and somebody watches. Never rejects. */
  async look(): Promise<void> {
    const { ask, isWatched, recordsWritten, log } = this.#parts;
    const written = recordsWritten();
    if (written === this.#seen || !isWatched()) return;
    this.#seen = written;
    try {
      const answer = await ask(["digest", "--today", "--json"], this.#over.signal);
      if (answer?.code === 0) this.#tell(JSON.parse(answer.stdout));
    } catch (error) {
      log.debug({ reason: messageOf(error) }, "what is out of line could not be found");
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#over.abort();
  }

  #tell(digest: unknown): void {
    if (!isObject(digest) || typeof digest["since"] !== "string") return;
    const { since, out_of_line: items } = digest;
    if (OUTLIERS.findFault(items, "") !== null) return;
    const before = this.#read();
    const told = new Set(before?.since === since ? before.told : []);
    const count = told.size;
    for (const item of items as (Outlier & Record<string, unknown>)[]) {
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
