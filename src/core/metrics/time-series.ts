import { ERROR_TYPE } from "./exchange-attributes.ts";
import { Histogram, type EncodedHistogram } from "./histogram.ts";
import type { Attributes } from "./metric.ts";
import { describeModels, type SeriesNames } from "./usage-series.ts";

/** What tells distributions of times apart: not the tool, because each of them is a line for every bucket. */
export interface TimeNames extends Omit<SeriesNames, "tool"> {
  /** `error.type`; null for requests that ended well. */
  error: string | null;
}

/** {@link TimeSeries} as data. */
export interface EncodedTimes {
  names: TimeNames;
  duration: EncodedHistogram;
  firstChunk: EncodedHistogram;
}

/** How long requests for a model at an upstream took. */
export class TimeSeries {
  readonly names: TimeNames;
  readonly attributes: Attributes;
  readonly duration: Histogram;
  /** Of streams alone, as the conventions want it. */
  readonly firstChunk: Histogram;

  constructor(names: TimeNames, encoded?: Omit<EncodedTimes, "names">) {
    const { error, ...models } = names;
    this.names = names;
    this.attributes = { ...describeModels(models), ...(error !== null && { [ERROR_TYPE]: error }) };
    this.duration = encoded === undefined ? new Histogram() : Histogram.of(encoded.duration);
    this.firstChunk = encoded === undefined ? new Histogram() : Histogram.of(encoded.firstChunk);
  }

  encode(): EncodedTimes {
    return { names: this.names, duration: this.duration.encode(), firstChunk: this.firstChunk.encode() };
  }
}
