import type { PromptSizes } from "../reading.ts";

/**
 * The sizes of a prompt above which a listed price of any model is another one. A test compares them with the price table, which the daemon
 * does not load. A price of the configuration may have others: then what a set of prompts costs is known only if all of them are on one
 * side of it.
 */
export const PROMPT_LIMITS: readonly number[] = [
  31_999, 32_000, 100_000, 128_000, 199_999, 200_000, 255_999, 256_000, 271_999, 272_000, 511_999, 512_000,
];

/** Returns between which limits prompts are: the same for all prompts of the same listed price. */
export function placeOf({ smallest_prompt: smallest, largest_prompt: largest }: PromptSizes): string {
  return `${limitsBelow(smallest)}-${limitsBelow(largest)}`;
}

function limitsBelow(size: number): number {
  return PROMPT_LIMITS.filter((limit) => size > limit).length;
}
