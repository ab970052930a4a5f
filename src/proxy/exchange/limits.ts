import type { DeadlineLimits } from "../upstream/deadline.ts";

/** The limits of one round trip, from the configuration. */
export interface RoundTripLimits extends DeadlineLimits {
  /** Largest request body in bytes. A larger one is refused with 413 and not buffered. */
  bodyBytes: number;
  /** Longest pause of the client within the request body, in milliseconds. */
  bodyIdleMs: number;
  /** Time for the upstream to report its final usage after the client has disconnected, in milliseconds. */
  graceMs: number;
}
