import type { Trust } from "../measure.ts";
import type { Site } from "../site.ts";
import type { Subject } from "../subject.ts";

/** One thing that is measured of a target, once per round. */
export interface Figure {
  key: string;
  /** With its unit. */
  title: string;
  /** Digits behind the point. */
  digits: number;
  /** Is it about what the target adds? Then what `direct` took in the same round is taken off. */
  isAdded?: boolean;
  /** Is it one of those that ratios are shown of? */
  isHeadline?: boolean;
}

/** What one measurement yielded. */
export interface Sample {
  /** By the key of the figure. NaN where the target has no such figure. */
  values: Record<string, number>;
  /** Anything that was not as it must be. */
  faults: string[];
  /** null where nothing was sent. */
  trust: Trust | null;
}

/** One kind of load, with the figures that it yields. */
export interface Scenario {
  name: string;
  /** What is done, for the report. */
  title: string;
  isInQuick: boolean;
  /** Does it run code that the usual warm-up does not? Then it has a part in the round that is thrown away. */
  isInWarmUp: boolean;
  figures: readonly Figure[];
  /** `isShort`: with less patience, for a quick run. */
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
