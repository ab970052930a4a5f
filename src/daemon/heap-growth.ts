import { setFlagsFromString } from "node:v8";

/** How far the heap may grow until the next full collection of garbage, in percent of what was alive after the last one. */
const GROWTH_PERCENT = 400;

/**
 * Lets the heap grow further until everything in it is collected. The body of a request passes in blocks of 64 KB that V8 counts with its
 * heap. A collection of young objects frees them in about 1 ms, but V8 starts one for their sake only at 32 MB. Its own limit for a full
 * collection, of 5 ms, is some 18 MB above what is alive, and so comes first (docs/performance.md). Call it once, at the start.
 */
export function growHeapFurther(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
