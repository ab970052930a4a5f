/** A record's line that waits for the disk, and the day whose file it belongs to. */
export interface Entry {
  day: string;
  /** With its newline. */
  line: string;
}

const MAX_ENTRIES = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** What the disk has refused so far, oldest first; bounded, because the disk may never come back. */
export class Backlog {
  readonly #entries: Entry[] = [];
  #bytes = 0;

  get length(): number {
    return this.#entries.length;
  }

  get first(): Entry | undefined {
    return this.#entries[0];
  }

  /** False when there is no room left: the entry is lost. */
  push(entry: Entry): boolean {
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
