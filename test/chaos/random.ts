import { createHash } from "node:crypto";

/** Numbers in [0, 1), the same ones for the same seed. */
export type Random = () => number;

/** A source of its own for each `seed`, so that one party's draws do not shift another's (mulberry32). */
export function createRandom(seed: string): Random {
  let state = createHash("sha256").update(seed).digest().readInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from `min` to `max`, both included. */
export function between(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

/** True in `share` of the cases. */
export function chance(random: Random, share: number): boolean {
  return random() < share;
}

/** One of the values, each as likely as its weight says. */
export function pick<Value>(random: Random, weighted: readonly (readonly [weight: number, Value])[]): Value {
  let left = random() * weighted.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, value] of weighted) {
    left -= weight;
    if (left < 0) return value;
  }
  throw new Error("nothing to pick from");
}

/** One of the values, all equally likely. */
export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return pick(
    random,
    values.map((value) => [1, value] as const),
  );
}

/** Small values are as likely as large ones: between 100 and 1000 as often as between 1000 and 10,000. */
export function acrossMagnitudes(random: Random, min: number, max: number): number {
  return Math.round(min * (max / min) ** random());
}
