import type { Percentiles } from "../../src/check/overhead.ts";
import type { RequestShape } from "./request.ts";

/** What the client does: each connection sends its next request when its response is complete. */
export interface Load extends RequestShape {
  port: number;
  connections: number;
  /** The maximum number of requests. */
  requests: number;
  /** The time after which no new request is sent. Those in progress are completed. */
  forMs: number;
  /** True when each request has its own connection. Otherwise each connection has carried a request before the load begins. */
  isFresh: boolean;
}

/** The outcome of a load. */
export interface Outcome {
  /** The number of complete responses. */
  requests: number;
  /** What was wrong with the others and their connections; only the first few. */
  faults: string[];
  seconds: number;
  bodyBytes: number;
  /** From sending a request to the first byte of its response, and to the last, in microseconds. */
  firstByteUs: Percentiles;
  wholeUs: Percentiles;
  /** From the sending of an event to its arrival, in microseconds. NaN when no event had a timestamp. */
  delayUs: Percentiles;
}
