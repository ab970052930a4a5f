import { createHash } from "node:crypto";
import { sumTokens } from "./tokens.ts";

const MAX_PREFIXES = 2000;

/** Shortest prefix that OpenAI caches by itself, and the step size above it (OpenAI's documentation, "Prompt caching"). */
const MINIMUM_TOKENS = 1024;
const STEP_TOKENS = 128;

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

/**
 * Returns how many tokens of a prompt OpenAI's automatic caching finds in `cache`, and adds the prompt's prefixes to it.
 * @param scope what separate caches are kept for: key, model, cache key
 */
export function countCachedTokens(
  scope: readonly string[],
  parts: readonly string[],
  cache: PromptCache,
): number {
  const hashes = hashPrefixes(scope, parts);
  const known = hashes.findLastIndex((hash) => cache.has(hash));
  for (const hash of hashes) cache.add(hash);
  const cached = sumTokens(parts.slice(0, known + 1));
  return cached < MINIMUM_TOKENS ? 0 : cached - (cached % STEP_TOKENS);
}
