import { setFlagsFromString } from "node:v8";

/** How far the heap may grow before the next full garbage collection, in percent of what survived the last one. */
const GROWTH_PERCENT = 400;

/**
 * Sets V8 up for a proxy. Call it once, at the start, before there is optimized code.
 *
 * - The heap may grow further until everything in it is collected. The body of a request passes in blocks of 64 KB that V8 counts with
 *   its heap. A collection of young objects frees them in about 1 ms, but V8 starts one for their sake only at 32 MB. Its own limit for a
 *   full collection, of 5 ms, is some 18 MB above what is alive, and so comes first.
 * - Everything begins as a young object. V8 would guess which places of the code make objects that live long, and be wrong: most requests
 *   that are under way at a collection are over before the next. What one such object refers to is then kept until a full collection, and
 *   a collection of young objects takes 7 ms instead of 1 (docs/performance.md section 5).
 * - V8 notes from the first call of a function on which types it is called with, rather than from the eighth. Otherwise it optimizes the
 *   path of a request later and more often: 10,000 requests later that still costs a tenth on one connection.
 */
export function configureV8(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString("--no-allocation-site-pretenuring");
  setFlagsFromString("--no-lazy-feedback-allocation");
}
