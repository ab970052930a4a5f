/** One group's values, one for each time. */
export interface Series {
  name: string;
  /** A colour, by its place among those of the style; default: that of the series among the others. */
  colour?: number;
  values: readonly number[];
  /** What all of it comes to where its values do not say it, such as `unpriced`, or `≥$3.07`. */
  word?: string | undefined;
  /** The same for each time. */
  words?: Words;
}

/** What stands for values, by their times; undefined for one that stands for itself. */
export type Words = readonly (string | undefined)[];

/** A time of a chart, in words: for the axis and for the pointer. */
interface ChartTime {
  brief: string;
  whole: string;
}

/** What stands out at some of the times, each a place among them. */
export interface ChartMark {
  name: string;
  shape: "triangle" | "cross";
  places: readonly number[];
}

/** What a chart shows. */
export interface Chart {
  title: string;
  times: readonly ChartTime[];
  /** Stacked, the first one at the bottom; or side by side, the first one at the left. */
  series: readonly Series[];
  /** Whether the series are compared with each other, so that no sum of them is of interest. */
  isSideBySide?: boolean;
  /** What stands for the sum of each time. */
  sumWords?: Words;
  unit: "cost" | "tokens";
  /** Pixels; default: as high as other charts. */
  height?: number;
  /** Of an earlier time, as dashes: null where that had no such hour or day. */
  before?: { name: string; values: readonly (number | null)[]; word?: string | undefined; words?: Words };
  /** Dollars, as a line with an axis of its own. */
  line?: Series;
  /** Whether the last of the times is not over yet. */
  isUnfinished?: boolean;
  /** The number of the first one, where they are numbered, as requests of a session are. Numbers are their labels then, with the times beneath. */
  firstNumber?: number;
  marks?: readonly ChartMark[];
  /** Called with the name of a series that somebody has clicked. The table beneath does the same for the keyboard. */
  onName?: (name: string) => void;
  /** Called with the places of the first and the last of the times that somebody has selected. */
  onSelect?: (first: number, last: number) => void;
}

/** Colours of the style: `mark-0` and so on. */
const COLOURS = 8;

/** The colour of a series, by its place among those of the style. */
export function colourAt(series: readonly Series[], at: number): number {
  return series[at]?.colour ?? at % COLOURS;
}

/** The sum of what is known. */
export function sumOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** What all series come to at each time. */
export function sumsOf({ times, series }: Pick<Chart, "times" | "series">): number[] {
  return times.map((_, at) => sumOf(series.map(({ values }) => values[at] ?? 0)));
}

/** How high the bars of each time reach. */
export function heightsOf(chart: Pick<Chart, "times" | "series" | "isSideBySide">): number[] {
  const { times, series, isSideBySide = false } = chart;
  return isSideBySide
    ? times.map((_, at) => Math.max(0, ...series.map(({ values }) => values[at] ?? 0)))
    : sumsOf(chart);
}
