/** Attributes of OpenTelemetry by their names, such as `gen_ai.request.model`. One that is not known is left out. */
export type Attributes = Readonly<Record<string, string>>;

/** A distribution in buckets: how many values are at most as large as each bound, and larger than the one before it. */
export interface HistogramValue {
  /** Upper bounds, inclusive, in the metric's unit. */
  bounds: readonly number[];
  /** One more than there are bounds: the last is for larger values. */
  counts: readonly number[];
  count: number;
  /** In the metric's unit. */
  sum: number;
}

/** One value of a metric. A text is a decimal number that has more digits than a JavaScript number. */
export interface Point {
  /** The same object for every metric of a series, so that a writer can write it once. */
  attributes: Attributes;
  /** More attributes of this point alone. */
  more?: Attributes;
  value: number | string | HistogramValue;
}

/** A metric in the terms of OpenTelemetry. Exporters derive from it what their protocol calls it. */
export interface Metric {
  /** e.g. `gen_ai.client.operation.duration`. */
  name: string;
  /** A counter never falls while its state is kept. `info` is a gauge of 1 whose attributes matter. */
  kind: "counter" | "gauge" | "histogram" | "info";
  /** By UCUM: seconds, bytes, or what is counted, in braces; empty for a number without a unit. */
  unit: "s" | "By" | "" | `{${string}}`;
  /** One sentence without line breaks. */
  help: string;
  points: Iterable<Point>;
}
