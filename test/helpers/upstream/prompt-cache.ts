/** A part of a prompt: what tells it from another, and its size. */
export interface CachedPart {
  key: string;
  tokens: number;
}

/** Bytes of a token, about as in English. */
const BYTES_A_TOKEN = 4;

/** Returns how many tokens a value of JSON or a text has. */
export function sizeOf(value: unknown): number {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}

/** What a service keeps of prompts: their beginnings. */
export class PromptCache {
  readonly #entries = new Set<string>();

  /** Reads what it has of a prompt, and keeps the first `marked` parts of it. Returns the counts of tokens. */
  use(parts: readonly CachedPart[], marked: number): { read: number; written: number; uncached: number } {
    const keys = parts.map((_, at) => JSON.stringify(parts.slice(0, at + 1).map(({ key }) => key)));
    const hit = keys.slice(0, marked).findLastIndex((key) => this.#entries.has(key)) + 1;
    for (const key of keys.slice(0, marked)) this.#entries.add(key);
    const tokensOf = (from: number, to: number) =>
      parts.slice(from, to).reduce((sum, { tokens }) => sum + tokens, 0);
    return {
      read: tokensOf(0, hit),
      written: tokensOf(hit, Math.max(hit, marked)),
      uncached: tokensOf(Math.max(hit, marked), parts.length),
    };
  }

  /** Forgets everything. */
  drop(): void {
    this.#entries.clear();
  }
}
