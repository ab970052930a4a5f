import type { Percentiles } from "../../src/check/overhead.ts";
import type { RequestShape } from "./request.ts";

/** What the client is to do: closed loops, each connection sends its next request when its answer is there. */
export interface Load extends RequestShape {
  port: number;
  connections: number;
  /** No more than so many in all. */
  requests: number;
  /** No request is begun after so long; one that has begun is finished. */
  forMs: number;
  /** Is each request to have a connection of its own? Otherwise each has carried a request before the load begins. */
  isFresh: boolean;
}

/** What came of it. */
export interface Outcome {
  /** Answered in full. */
  requests: number;
  /** What was wrong with the others, and with their connections. At most a few. */
  faults: string[];
  seconds: number;
  bodyBytes: number;
  /** From sending a request to the first byte of its answer, and to the last, microseconds. */
  firstByteUs: Percentiles;
  wholeUs: Percentiles;
  /** From the sending of an event to its arrival, microseconds. NaN when no event was stamped. */
  delayUs: Percentiles;
}
