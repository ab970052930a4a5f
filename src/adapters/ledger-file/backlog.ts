/** A record's line that is still to be written, and the day whose file it belongs to. */
export interface PendingLine {
  day: string;
  /** With a newline at its end. */
  line: string;
  /** The id of the record, if there is a note of it to be removed once the line is written; otherwise null. */
  noteId: string | null;
}

const MAX_ENTRIES = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Lines that could not be written, oldest first. Bounded, because the disk may never recover. */
export class Backlog {
  readonly #entries: PendingLine[] = [];
  #bytes = 0;

  get length(): number {
    return this.#entries.length;
  }

  get first(): PendingLine | undefined {
    return this.#entries[0];
  }

  /** The lines, oldest first. */
  get lines(): string[] {
    return this.#entries.map(({ line }) => line);
  }

  /** Returns false when the backlog is full and the entry is lost. */
  push(entry: PendingLine): boolean {
    const bytes = Buffer.byteLength(entry.line);
    if (this.#entries.length >= MAX_ENTRIES || this.#bytes + bytes > MAX_BYTES) return false;
    this.#entries.push(entry);
    this.#bytes += bytes;
    return true;
  }

  dropFirst(): void {
    const entry = this.#entries.shift();
    if (entry !== undefined) this.#bytes -= Buffer.byteLength(entry.line);
  }
}
