import { createHash } from "node:crypto";

const REMEMBERED = 2000;

/**
 * The prompt cache's memory: which beginnings of prompts were seen, as hashes. Bounded; what was not seen for
 * longest is forgotten first, where the real service forgets by the clock.
 */
export class PrefixMemory {
  readonly #hashes = new Set<string>();

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  remember(hash: string): void {
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    for (const oldest of this.#hashes) {
      if (this.#hashes.size <= REMEMBERED) break;
      this.#hashes.delete(oldest);
    }
  }
}

/**
 * One hash for each beginning of a prompt: the n-th covers the first n parts.
 * `scope` keeps apart what no cache shares: keys, models, cache keys.
 */
export function hashPrefixes(scope: readonly string[], parts: readonly string[]): string[] {
  let hash = JSON.stringify(scope);
  return parts.map(
    (part) => (hash = createHash("sha256").update(hash).update("\0").update(part).digest("hex")),
  );
}
