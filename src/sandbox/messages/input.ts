import type { CacheLifetime, PromptPart } from "./request.ts";
import { hashPrefixes, type PrefixMemory } from "../prefix-memory.ts";
import { countTokens } from "../tokens.ts";

/** A prompt's tokens by how they are billed. The four add up to the whole. */
export interface CachedInput {
  uncached: number;
  read: number;
  written: Record<CacheLifetime, number>;
}

/** All tokens of a prompt, whatever the cache holds: what `count_tokens` says. */
export function countInput(parts: readonly PromptPart[]): number {
  return parts.reduce((sum, part) => sum + countTokens(part.text), 0);
}

/**
 * Bills a prompt against the cache: the longest known beginning up to the last breakpoint is read, the rest up
 * to it written (at the lifetime of the breakpoint that covers it), and what follows is neither.
 * Remembers the beginnings that end at a breakpoint. No minimum length, so that small prompts show it.
 */
export function billInput(
  parts: readonly PromptPart[],
  scope: readonly string[],
  memory: PrefixMemory,
): CachedInput {
  const hashes = hashPrefixes(
    scope,
    parts.map((part) => part.text),
  );
  const last = parts.findLastIndex((part) => part.breakpoint !== null);
  const known = hashes.findLastIndex((hash, at) => at <= last && memory.has(hash));
  for (const [at, hash] of hashes.entries()) {
    if (at === known || (parts[at]?.breakpoint ?? null) !== null) memory.remember(hash);
  }
  return {
    uncached: countInput(parts.slice(last + 1)),
    read: countInput(parts.slice(0, known + 1)),
    written: countWritten(parts.slice(known + 1, last + 1)),
  };
}

function countWritten(parts: readonly PromptPart[]): CachedInput["written"] {
  const written = { "5m": 0, "1h": 0 };
  let lifetime: CacheLifetime = "5m";
  for (const part of parts.toReversed()) {
    lifetime = part.breakpoint ?? lifetime;
    written[lifetime] += countTokens(part.text);
  }
  return written;
}
