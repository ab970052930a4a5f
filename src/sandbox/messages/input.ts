import { hashPrefixes, type PromptCache } from "../generation/prompt-cache.ts";
import { countTokens, sumTokens } from "../generation/tokens.ts";
import type { CacheLifetime, PromptPart } from "./request.ts";

/** The tokens of a prompt by how they are billed. The four numbers add up to the whole prompt. */
export interface BilledInput {
  uncached: number;
  read: number;
  written: Record<CacheLifetime, number>;
}

/** Returns all tokens of a prompt, cached or not, as `count_tokens` reports them. */
export function countInput(parts: readonly PromptPart[]): number {
  return sumTokens(parts.map(({ text }) => text));
}

/**
 * Bills a prompt and adds its prefixes that end at a breakpoint to the cache. The longest known prefix up to the last
 * breakpoint counts as read, the rest up to there as written with the lifetime of the next breakpoint, and what follows as
 * uncached. Unlike in the real service there is no minimum length, so that small prompts show caching.
 */
export function billInput(
  parts: readonly PromptPart[],
  scope: readonly string[],
  cache: PromptCache,
): BilledInput {
  const texts = parts.map(({ text }) => text);
  const hashes = hashPrefixes(scope, texts);
  const last = parts.findLastIndex((part) => part.breakpoint !== null);
  const known = hashes.findLastIndex((hash, at) => at <= last && cache.has(hash));
  for (const [at, hash] of hashes.entries()) {
    if (at === known || (parts[at]?.breakpoint ?? null) !== null) cache.add(hash);
  }
  return {
    uncached: countInput(parts.slice(last + 1)),
    read: countInput(parts.slice(0, known + 1)),
    written: countWritten(parts.slice(known + 1, last + 1)),
  };
}

function countWritten(parts: readonly PromptPart[]): BilledInput["written"] {
  const written = { "5m": 0, "1h": 0 };
  let lifetime: CacheLifetime = "5m";
  for (const part of parts.toReversed()) {
    lifetime = part.breakpoint ?? lifetime;
    written[lifetime] += countTokens(part.text);
  }
  return written;
}
