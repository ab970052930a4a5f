import { BATCH_SET, type MeterReading, type Tokens } from "../reading.ts";
import { sizeOf } from "../tokens.ts";

/** What rows and exports show of the tokens of a request. */
type ShownTokens = Pick<Tokens, "input_total" | "cache_read" | "cache_write" | "output" | "reasoning">;

/**
 * Returns the tokens of the model that a record names. They are its `tokens`; of a batch also the other sets of that model, which differ in
 * the sizes of their prompts. No set in `extra` says how much of it is reasoning, so it is null with any that has output.
 */
export function tokensOfModel({
  tokens,
  extra,
  model,
}: Pick<MeterReading, "tokens" | "extra" | "model">): ShownTokens | null {
  if (tokens === null) return null;
  const { cache_read, cache_write, output, reasoning } = tokens;
  const sum = { input_total: sizeOf(tokens), cache_read, cache_write, output, reasoning };
  for (const set of extra) {
    if (set.type !== BATCH_SET || set.model !== model) continue;
    sum.input_total += sizeOf(set);
    sum.cache_read += set.cache_read;
    sum.cache_write += set.cache_write;
    sum.output += set.output;
    if (set.output > 0) sum.reasoning = null;
  }
  return sum;
}
