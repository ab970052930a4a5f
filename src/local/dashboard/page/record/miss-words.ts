import type { Miss } from "../feed-types.ts";
import { formatCount, formatDollars } from "../numbers.ts";

/**
 * Says why a request missed the cache, and what that cost more than a hit, if anything is known: `the tools changed, +$0.02`, or
 * `≥$0.02 more` for a part of it.
 */
export function describeMiss(miss: Miss): string {
  if (isLossUnknown(miss)) return miss.meaning;
  return `${miss.meaning}, ${miss.is_exact ? lossOf(miss).replace("$", "+$") : `${lossOf(miss)} more`}`;
}

/** At least nothing says nothing. */
function isLossUnknown({ cost_usd: cost, plan_worth_usd: worth, is_exact: isExact }: Miss): boolean {
  return !isExact && Number(worth ?? cost) === 0;
}

/** The same in sentences, with what could have been read from the cache, and how to avoid it. */
export function explainMiss(miss: Miss): string {
  const { tokens, habit } = miss;
  const more = tokens === null ? "more" : `${formatCount(tokens)} tokens more`;
  const sentence = `It missed the cache: ${reasonOf(miss)}. A hit would have read ${more} from the cache${isLossUnknown(miss) ? "" : `, for ${lossOf(miss)} less`}.`;
  return habit === null ? sentence : `${sentence} ${habit}`;
}

function reasonOf({ meaning, by }: Miss): string {
  return `${meaning} (${by === "said" ? "said by the service" : "inferred"})`;
}

/** What a plan paid is in brackets, as in `usage`. */
function lossOf({ cost_usd: cost, plan_worth_usd: worth, is_exact: isExact }: Miss): string {
  const bound = isExact ? "" : "≥";
  return worth === null
    ? `${bound}${formatDollars(Number(cost))}`
    : `(${bound}${formatDollars(Number(worth))})`;
}
