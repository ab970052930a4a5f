import type { MeterSetup } from "../../src/core/usage/meter.ts";
import type { MeterReading } from "../../src/core/usage/reading.ts";
import type { StreamEvent } from "./framing.ts";

/** A generated valid response whose usage is known. */
export interface ValidResponse {
  dialect: MeterSetup["dialect"];
  /** The response as a stream. */
  events: StreamEvent[];
  /** Index of the last event that has usage. */
  finalUsageEvent: number;
  /** The same response as one JSON document. */
  document: object;
  /** The meter's reading of either. */
  expected: Partial<MeterReading>;
}
