import uPlot from "uplot";
import { formatCompact, formatDollars } from "./numbers.ts";

/** One group's values, one for each time. */
export interface Series {
  name: string;
  values: readonly number[];
}

/** Distinct with the usual colour blindnesses (Okabe and Ito, 2008), legible on white and on black. */
export const COLOURS = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#d55e00",
  "#56b4e9",
  "#cc79a7",
  "#b8a900",
  "#888888",
];

const HEIGHT = 260;

/** Draws stacked bars into `parent`, and replaces what is there. The table beneath has the same figures for those who do not see it. */
export function drawChart(
  parent: HTMLElement,
  times: readonly string[],
  series: readonly Series[],
  unit: "cost" | "tokens",
): void {
  parent.replaceChildren();
  if (times.length === 0) return;
  const format = unit === "cost" ? formatDollars : formatCompact;
  const stacked = stack(series);
  const ink = getComputedStyle(parent).color;
  const axis = { stroke: ink, grid: { stroke: "#8884", width: 1 }, ticks: { show: false } };
  const bars = uPlot.paths.bars?.({ size: [0.8, 60] });
  // Draws itself into its parent.
  void new uPlot(
    {
      width: parent.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: [-0.6, times.length - 0.4] },
        y: { range: (_, __, most) => [0, most || 1] },
      },
      axes: [
        {
          ...axis,
          incrs: [1, 2, 5, 7, 14, 30, 60],
          values: (_, at) => at.map((index) => shortTime(times[index] ?? "")),
        },
        { ...axis, size: 70, values: (_, values) => values.map(format) },
      ],
      series: [
        {},
        ...stacked.map((_, at) => ({
          fill: COLOURS[(stacked.length - 1 - at) % COLOURS.length] ?? "",
          width: 0,
          points: { show: false },
          ...(bars !== undefined && { paths: bars }),
        })),
      ],
    },
    [times.map((_, index) => index), ...stacked.map((values) => [...values])],
    parent,
  );
}

/** Sums from below, the highest first, so that each covers what is above it. */
function stack(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series) sums.push(values.map((value, at) => value + (sums.at(-1)?.[at] ?? 0)));
  return sums.toReversed();
}

/** `14:00` of an hour, and `11-24` of a day; other times are short. */
function shortTime(time: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(time)) return time.slice(5);
  return /^\d{4}-/.test(time) ? time.slice(11) : time;
}
