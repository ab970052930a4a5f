import { createHash } from "node:crypto";

const MAX_PREFIXES = 2000;

/** The prefixes of earlier prompts, as hashes. Evicts the oldest when full; the real services expire prefixes by time. */
export class PromptCache {
  readonly #hashes = new Set<string>();

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  add(hash: string): void {
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    const [oldest = ""] = this.#hashes;
    if (this.#hashes.size > MAX_PREFIXES) this.#hashes.delete(oldest);
  }
}

/**
 * Returns one hash per prefix of a prompt: the n-th covers the first n parts.
 * @param scope what separate caches are kept for: key, model, cache key
 */
export function hashPrefixes(scope: readonly string[], parts: readonly string[]): string[] {
  let hash = JSON.stringify(scope);
  return parts.map((part) => (hash = createHash("sha256").update(`${hash}\0${part}`).digest("hex")));
}
