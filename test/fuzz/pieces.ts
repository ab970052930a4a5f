import * as fc from "fast-check";
import { createRandom, randomPieces } from "../core/usage/corpus.ts";

/** How a body is cut into pieces: their greatest length in bytes, and the seed of their lengths. */
export interface Piecing {
  longest: number;
  seed: number;
}

/** Single bytes often: what depends on a border shows there first. */
export const piecing: fc.Arbitrary<Piecing> = fc.record({
  longest: fc.constantFrom(1, 1, 2, 3, 7, 20, 64, 1000, 5000),
  seed: fc.nat(),
});

/** The body in such pieces, each in a buffer that is overwritten afterwards. */
export function cutUp(body: Buffer, { longest, seed }: Piecing): Iterable<Buffer> {
  return randomPieces(body, longest, createRandom(seed));
}
