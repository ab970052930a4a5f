import { formatShare, numberFormat } from "../numbers.ts";

/** What is said of a figure beside another one. */
interface Words {
  /** As in `half as much`. */
  as: string;
  /** As in `12% more`. */
  more: string;
  less: string;
}

export const MUCH: Words = { as: "much", more: "more", less: "less" };
export const MANY: Words = { as: "many", more: "more", less: "fewer" };
export const LONG: Words = { as: "long", more: "more time", less: "less time" };
export const FAST: Words = { as: "fast", more: "faster", less: "slower" };

/** How a figure is beside another one, in words: `half as much`, and the word before the other one's name. */
export interface HowMuch {
  text: string;
  than: "as" | "than";
}

/** A smaller part of a figure says nothing. */
const LEAST = 0.05;
/** From there on, times are read faster than percents. */
const MANY_TIMES = 1.5;
const PARTS = [
  [1 / 2, "half"],
  [1 / 3, "a third"],
  [1 / 4, "a quarter"],
] as const;
/** How near a part is to one that has a name. */
const NEAR = 0.04;
/** From so many times on, tenths say nothing. */
const WHOLE_TIMES = 10;
const TIMES = numberFormat({ maximumFractionDigits: 1 });
const TIMES_WHOLE = numberFormat({ maximumFractionDigits: 0 });

/**
 * Says how much a figure is beside another one, with the direction in words: `12% more`, `half as much`, `3.1 times as much`, `as much`.
 * @param slack - the part of a figure that may be wrong; less than that is no difference
 * @returns null where the other one is nothing
 */
export function howMuch(figure: number, other: number, words: Words = MUCH, slack = LEAST): HowMuch | null {
  if (!(other > 0)) return null;
  const times = figure / other;
  const as = (part: string): HowMuch => ({ text: `${part}as ${words.as}`, than: "as" });
  if (times === 1) return as("");
  if (Math.abs(times - 1) < Math.max(slack, LEAST)) return as("about ");
  if (times >= MANY_TIMES) return as(`${nameTimes(times)} `);
  if (times > 1) return { text: `${formatShare(figure - other, other)} ${words.more}`, than: "than" };
  const part = PARTS.find(([one]) => Math.abs(times / one - 1) < NEAR)?.[1];
  if (part !== undefined) return as(`${part} `);
  return { text: `${formatShare(other - figure, other)} ${words.less}`, than: "than" };
}

/** The same of figures of which not all is known: `about half as much`. */
export function approximately(found: HowMuch): HowMuch {
  return found.text.startsWith("about ") ? found : { ...found, text: `about ${found.text}` };
}

function nameTimes(times: number): string {
  const shown = (times < WHOLE_TIMES ? TIMES : TIMES_WHOLE).format(times);
  return shown === "2" ? "twice" : `${shown} times`;
}
