import type { Trust } from "../measure.ts";
import type { Site } from "../site.ts";
import type { Subject } from "../subject.ts";

/** A figure that is measured once per round. */
export interface Figure {
  key: string;
  /** With its unit. */
  title: string;
  /** Digits after the decimal point. */
  digits: number;
  /** True when the value of `direct` in the same round is subtracted, so that it is what the target adds. */
  isAdded?: boolean;
  /** True when the report shows its ratios. */
  isHeadline?: boolean;
}

/** The result of one measurement. */
export interface Sample {
  /** Values by the figure's key. NaN where the target has no such figure. */
  values: Record<string, number>;
  /** Everything that was wrong. */
  faults: string[];
  /** null where nothing was sent. */
  trust: Trust | null;
}

/** One kind of load and its figures. */
export interface Scenario {
  name: string;
  /** A description for the report. */
  title: string;
  isInQuick: boolean;
  /** True when it runs code that the usual warm-up does not, and so is part of the discarded round. */
  isInWarmUp: boolean;
  figures: readonly Figure[];
  /** `isShort`: for less time, in a quick run. */
  measure(site: Site, subject: Subject, isShort: boolean): Promise<Sample>;
}

export const CPU_PER_REQUEST: Figure = {
  key: "cpuUs",
  title: "CPU µs/request",
  digits: 0,
  isHeadline: true,
};

export const CPU_PER_EVENT: Figure = {
  key: "cpuUs",
  title: "CPU µs/event",
  digits: 2,
  isHeadline: true,
};
