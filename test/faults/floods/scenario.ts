import type { TestContext } from "node:test";

/** The body of one test. */
export type Scenario = (t: TestContext) => Promise<void>;

export const MIB = 1024 * 1024;

/** One mebibyte. */
export const CHUNK = Buffer.alloc(MIB, "x");

export function* repeat(chunk: Buffer, times: number): Iterable<Buffer> {
  for (let i = 0; i < times; i += 1) yield chunk;
}
