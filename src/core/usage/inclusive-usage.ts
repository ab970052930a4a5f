import type { JsonObject } from "../json.ts";
import type { Flag } from "./reading.ts";
import { readSentCounts, type InclusiveApi, type SentCounts } from "./sent-counts.ts";
import type { UsageCounts } from "./tokens.ts";

/**
 * Reads a usage object whose input includes cache reads and writes, and whose output includes reasoning: of Chat Completions,
 * completions, embeddings and the Responses API. Where a service counts otherwise, only its total proves it (docs/wire.md section 7).
 * `own` is the API whose names are expected; others are read and flagged.
 */
export function readInclusiveUsage(usage: JsonObject, own: InclusiveApi, flags: Set<Flag>): UsageCounts {
  const sent = readSentCounts(usage, own);
  if (sent.names !== own) flags.add("openai_names");
  const { total, reasoning } = sent;
  const [input, output] = fillIn(sent);
  const counts: UsageCounts = {
    uncached: input,
    read: sent.read,
    write: sent.write,
    lifetimes: sent.lifetimes,
    output,
    reasoning,
  };
  if (input !== null && output !== null && total !== null) reconcile(counts, total, sent.audio, flags);
  if (reasoning !== null && counts.output !== null && reasoning > counts.output) {
    counts.reasoning = null;
    flags.add("reasoning_exceeds_output");
    if (total === null) flags.add("undecided");
  }
  if (!isOutside(sent, flags)) subtractCache(counts, sent, flags);
  return counts;
}

/** True where the cache is not in the input: the total says so, or there is none, and the names are those of the Messages API. */
function isOutside({ names, total, hasMessagesCache }: SentCounts, flags: Set<Flag>): boolean {
  if (names === "responses" && total === null && hasMessagesCache) flags.add("cache_outside_prompt");
  return flags.has("cache_outside_prompt");
}

/** Returns input and output. One that is missing follows from the total; a total alone is all input, as of embeddings. */
function fillIn({ input, output, total }: SentCounts): [input: number | null, output: number | null] {
  if (total === null) return [input, output];
  if (input === null && output === null) return [total, null];
  if (input === null) return [difference(total, output ?? 0), output];
  return [input, output ?? difference(total, input)];
}

function difference(total: number, part: number): number | null {
  return total >= part ? total - part : null;
}

/** Where the total exceeds the sum, it is right and a part is wrong. */
function reconcile(counts: UsageCounts, total: number, audio: number | null, flags: Set<Flag>): void {
  const input = counts.uncached ?? 0;
  const output = counts.output ?? 0;
  const missing = total - input - output;
  if (missing === 0) return;
  if (missing < 0) flags.add("total_mismatch");
  else if (missing === counts.reasoning) {
    counts.output = output + missing;
    flags.add("reasoning_outside_output");
  } else if (missing === audio) {
    counts.uncached = input + missing;
    flags.add("prompt_excludes_audio");
  } else if (missing === (counts.read ?? 0) + (counts.write ?? 0)) flags.add("cache_outside_prompt");
  else {
    counts.output = output + missing;
    flags.add("total_exceeds_sum");
  }
}

/**
 * Takes the cache out of the input. With a total, a cache that does not fit in the input does not count. That is proved only where the
 * service adds the input up by kinds, too: a total may be a sum that a gateway has made.
 */
function subtractCache(counts: UsageCounts, { total, kinds }: SentCounts, flags: Set<Flag>): void {
  const input = counts.uncached;
  if (input === null) return;
  if (total === null && (counts.read ?? 0) + (counts.write ?? 0) > input) {
    flags.add("negative_uncached");
    return;
  }
  if ((counts.read ?? 0) > input) {
    counts.read = 0;
    flags.add("cached_exceeds_prompt");
  }
  if ((counts.write ?? 0) > input) {
    dropWrite(counts);
    flags.add("cached_exceeds_prompt");
  }
  if (flags.has("cached_exceeds_prompt") && kinds !== input) flags.add("undecided");
  if ((counts.read ?? 0) + (counts.write ?? 0) > input) {
    dropWrite(counts);
    flags.add("cache_read_write_overlap");
  }
  counts.uncached = input - (counts.read ?? 0) - (counts.write ?? 0);
}

function dropWrite(counts: UsageCounts): void {
  counts.write = 0;
  counts.lifetimes = null;
}
