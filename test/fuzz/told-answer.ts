import type { MeterSetup } from "../../src/core/usage/meter.ts";
import type { Reading } from "../../src/core/usage/reading.ts";
import type { StreamEvent } from "./framing.ts";

/** A valid answer whose usage is known because it was made up here. */
export interface ToldAnswer {
  dialect: MeterSetup["dialect"];
  /** The answer as a stream. */
  events: StreamEvent[];
  /** Which of the events has the last word on usage. */
  lastWord: number;
  /** The same answer as one document. */
  document: object;
  /** What a meter must make of either. */
  expected: Partial<Reading>;
}
