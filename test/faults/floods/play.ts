import type { TestContext } from "node:test";

/** One test of a row: what its clients do, and what must come of it. */
export type Play = (t: TestContext) => Promise<void>;

export const MIB = 1024 * 1024;

/** One mebibyte of a body that never ends. */
export const PIECE = Buffer.alloc(MIB, "x");

export function* repeat(piece: Buffer, times: number): Iterable<Buffer> {
  for (let i = 0; i < times; i += 1) yield piece;
}
