import type { JsonObject } from "../json.ts";
import { countOfKind, readModalities, type Modalities, type TokenKind } from "../usage/gemini/usage.ts";
import type { TokenSet } from "./parts.ts";
import { MEDIA, type Medium } from "./rate-class.ts";

/** Tokens, and those of each medium that may have a price of its own. */
interface SplitTokens {
  /** Text, documents, and what nothing is said of. */
  rest: TokenSet;
  media: readonly (readonly [Medium, TokenSet])[];
}

/**
 * Divides tokens by what a usage object of Google's API tells of modalities; null where it tells of text only. What it tells are weights: where
 * they exceed their count, each counts in proportion, and where they do not reach it the remainder is text (docs/wire.md section 12).
 * Thoughts are text.
 */
export function splitByMedium(tokens: TokenSet, usage: JsonObject): SplitTokens | null {
  const told = readModalities(usage);
  if (told === null) return null;
  const media: [Medium, TokenSet][] = [];
  const rest = { ...tokens };
  for (const medium of MEDIA) {
    const of = (kind: TokenKind) => shareOf(medium.toUpperCase(), told[kind], countOfKind(usage, kind));
    const cached = Math.min(of("cached"), rest.cache_read);
    const uncached = Math.min(Math.max(0, of("prompt") + of("toolUse") - cached), rest.input_uncached);
    const output = Math.min(of("output"), rest.output);
    if (cached + uncached + output === 0) continue;
    rest.cache_read -= cached;
    rest.input_uncached -= uncached;
    rest.output -= output;
    media.push([medium, { ...NONE, input_uncached: uncached, cache_read: cached, output }]);
  }
  return media.length === 0 ? null : { rest, media };
}

const NONE: TokenSet = {
  input_uncached: 0,
  cache_read: 0,
  cache_write: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  cache_write_30m: 0,
  cache_write_12h: 0,
  cache_write_ttl_unknown: 0,
  output: 0,
};

function shareOf(modality: string, told: Modalities | undefined, count: number): number {
  const tokens = told?.[modality] ?? 0;
  const sum = Object.values(told ?? {}).reduce((all, one) => all + one, 0);
  return sum <= count ? tokens : Math.floor((tokens * count) / sum);
}
