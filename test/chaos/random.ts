import { createHash } from "node:crypto";

/** Returns numbers in [0, 1), the same sequence for the same seed. */
export type Random = () => number;

/** Creates a generator (mulberry32). Each party has its own, so that its draws do not shift those of another. */
export function createRandom(seed: string): Random {
  let state = createHash("sha256").update(seed).digest().readInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns an integer from `min` to `max`, both inclusive. */
export function between(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

/** Returns true with probability `share`. */
export function chance(random: Random, share: number): boolean {
  return random() < share;
}

/** Returns one of the values with a probability proportional to its weight. */
export function pick<Value>(random: Random, weighted: readonly (readonly [weight: number, Value])[]): Value {
  let left = random() * weighted.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, value] of weighted) {
    left -= weight;
    if (left < 0) return value;
  }
  throw new Error("nothing to pick from");
}

/** Returns one of the values, all equally likely. */
export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return pick(
    random,
    values.map((value) => [1, value] as const),
  );
}

/** Returns a number that is uniform on a logarithmic scale: from 100 to 1000 as often as from 1000 to 10,000. */
export function acrossMagnitudes(random: Random, min: number, max: number): number {
  return Math.round(min * (max / min) ** random());
}
