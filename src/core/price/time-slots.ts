import type { PriceSlots } from "./charge-sums.ts";

const DAY_MS = 86_400_000;

/**
 * Times of the day at which a price may change, in seconds from midnight UTC: all that are in the price table, which a test
 * compares. Prices from a date on change at midnight UTC.
 */
export const PRICE_CHANGES = [1_800, 3_600, 14_400, 21_600, 36_000, 59_400] as const;

/** Tells times with different prices apart without knowing any price, for whoever does not load the table: finer than needed. */
export const TIME_SLOTS: PriceSlots = {
  slotOf(_upstream, _model, ts) {
    const at = Date.parse(ts);
    const second = (at % DAY_MS) / 1000;
    const passed = PRICE_CHANGES.filter((change) => change <= second).length;
    return Math.floor(at / DAY_MS) * (PRICE_CHANGES.length + 1) + passed;
  },
};

/** The models whose price may change during a day: all of them that are in the price table, which a test compares, and some more. */
const CHANGING_MODELS = /deepseek/i;

/** Tells times of one UTC day with different prices apart, without knowing any price. */
export const DAY_SLOTS: PriceSlots = {
  slotOf: (upstream, model, ts) => (CHANGING_MODELS.test(model) ? TIME_SLOTS.slotOf(upstream, model, ts) : 0),
};
