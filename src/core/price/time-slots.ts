import type { PriceSlots } from "./charge-sums.ts";

const DAY_MS = 86_400_000;

/**
 * Times of the day at which a price may change, in seconds from midnight UTC: all that are in the price table, which a test
 * compares. Prices from a date on change at midnight UTC.
 */
export const PRICE_CHANGES = [1_800, 3_600, 14_400, 21_600, 36_000, 59_400] as const;

/**
 * Tells times and sizes of prompts with different prices apart without knowing any price, for what adds up before it is priced:
 * finer than needed.
 * @param limits those of all prices (`PriceBook.limits`)
 */
export const timeSlots = (limits: readonly number[]): PriceSlots => ({
  slotOf: timeSlotOf,
  limitsOf: () => limits,
});

/** The same for the times of one UTC day. */
export const daySlots = (limits: readonly number[]): PriceSlots => ({
  slotOf: (upstream, model, ts) => (CHANGING_MODELS.test(model) ? timeSlotOf(upstream, model, ts) : 0),
  limitsOf: () => limits,
});

/** Tells nothing apart: for what is priced by itself, or not at all. */
export const NO_SLOTS: PriceSlots = { slotOf: () => 0, limitsOf: () => [] };

/** The models whose price may change during a day: all of them that are in the price table, which a test compares, and some more. */
const CHANGING_MODELS = /deepseek/i;

function timeSlotOf(_upstream: string, _model: string, ts: string): number {
  const at = Date.parse(ts);
  const second = (at % DAY_MS) / 1000;
  const passed = PRICE_CHANGES.filter((change) => change <= second).length;
  return Math.floor(at / DAY_MS) * (PRICE_CHANGES.length + 1) + passed;
}

/** True for a model, and times of the day, that slots keep apart. */
export function isWithinSlots(model: string, times: readonly number[]): boolean {
  return (
    CHANGING_MODELS.test(model) && times.every((time) => PRICE_CHANGES.some((change) => change === time))
  );
}
