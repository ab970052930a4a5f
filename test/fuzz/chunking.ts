import * as fc from "fast-check";
import { createRandom, randomPieces } from "../core/usage/corpus.ts";

/** How a body is divided into chunks: their maximum length, and the seed for their lengths. */
export interface Chunking {
  maxBytes: number;
  seed: number;
}

/** Prefers single bytes, which put a boundary everywhere. */
export const chunking: fc.Arbitrary<Chunking> = fc.record({
  maxBytes: fc.constantFrom(1, 1, 2, 3, 7, 20, 64, 1000, 5000),
  seed: fc.nat(),
});

/** Divides a body into chunks, each in a buffer that is overwritten afterwards. */
export function splitIntoChunks(body: Buffer, { maxBytes, seed }: Chunking): Iterable<Buffer> {
  return randomPieces(body, maxBytes, createRandom(seed));
}
