import { isObject, type JsonObject } from "../../json.ts";
import { asText } from "../fields.ts";
import type { ExtraTokens } from "../reading.ts";
import { toTokenClasses, type TokenClasses } from "../tokens.ts";
import { readMessagesCounts } from "./usage.ts";

const COUNTS = ["input_uncached", "cache_read", "cache_write", "output"] as const;

/**
 * Returns what each sampling of a model in a tool loop used, by `usage.iterations` of the Messages API; null where it is not listed, or does
 * not add up to the tokens of the whole message.
 */
export function samplesOf(
  rawUsage: JsonObject | null,
  tokens: Pick<TokenClasses, (typeof COUNTS)[number]>,
): TokenClasses[] | null {
  const samples = readSamples(rawUsage?.["iterations"]);
  const addsUp = samples.length > 0 && COUNTS.every((name) => sum(samples, name) === tokens[name]);
  return addsUp ? samples : null;
}

function sum(samples: readonly TokenClasses[], name: (typeof COUNTS)[number]): number {
  return samples.reduce((total, sample) => total + sample[name], 0);
}

/** Reads the iterations that are in the top-level usage: after a fallback, those of the model that served. */
function readSamples(value: unknown): TokenClasses[] {
  if (!Array.isArray(value)) return [];
  const iterations = value.filter(isObject);
  const served = asText(iterations.findLast(({ type }) => type === "fallback_message")?.["model"]);
  return iterations
    .filter(({ type, model }) => {
      if (type === "fallback_message") return true;
      return type === "message" && (served === null || model === served);
    })
    .map((iteration) => toTokenClasses(readMessagesCounts(iteration), new Set()));
}

/** Returns the model that an extra set is billed for. A compaction is done by the model of the request, and does not name it. */
export function modelOf({ type, model }: ExtraTokens, own: string | null): string | null {
  return model ?? (type === "compaction" ? own : null);
}
