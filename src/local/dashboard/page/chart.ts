import uPlot from "uplot";
import { toPrintable } from "../../../core/text/printable.ts";
import { element } from "./elements.ts";
import { formatCompact, formatDollars } from "./numbers.ts";
import { isDay } from "./times.ts";

/** One group's values, one for each time. */
export interface Series {
  name: string;
  values: readonly number[];
}

/** What a chart shows. */
interface Chart {
  times: readonly string[];
  /** Stacked, the first one at the bottom. */
  series: readonly Series[];
  unit: "cost" | "tokens";
  /** Dollars, as a line with an axis of its own. */
  line?: Series;
  /** Called with the first and the last of the times that somebody has selected. */
  onSelect?: (first: string, last: string) => void;
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
const AXIS_WIDTH = 70;
/** Of the axis, so that the highest bar ends below its end. */
const HEADROOM = 1.05;

/** Returns a chart. The table beneath it has the same figures for those who do not see it. It is drawn once it has a width. */
export function chartOf(chart: Chart): HTMLElement {
  const values = element("p", { class: "values" });
  const place = element("div");
  const figure = element("div", { class: "chart", attributes: { "aria-hidden": "true" } }, values, place);
  if (chart.times.length > 0) requestAnimationFrame(() => draw(place, values, chart));
  return figure;
}

function draw(place: HTMLElement, values: HTMLElement, chart: Chart): void {
  const { times, series, unit, line, onSelect } = chart;
  const format = unit === "cost" ? formatDollars : formatCompact;
  const stacked = stack(series);
  const ink = getComputedStyle(place).color;
  const axis = { stroke: ink, grid: { stroke: "#8884", width: 1 }, ticks: { show: false } };
  const bars = uPlot.paths.bars?.({ size: [0.8, 60] });
  // Draws itself into its parent.
  void new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: onSelect !== undefined, y: false, setScale: false },
      },
      scales: {
        x: { time: false, range: [-0.6, times.length - 0.4] },
        y: { range: (_, __, most) => [0, (most || 1) * HEADROOM] },
        line: { range: (_, __, most) => [0, (most || 1) * HEADROOM] },
      },
      axes: [
        {
          ...axis,
          incrs: [1, 2, 5, 7, 14, 30, 60],
          values: (_, at) => at.map((index) => shortTime(times[index] ?? "")),
        },
        { ...axis, size: AXIS_WIDTH, values: (_, at) => at.map(format) },
        ...(line === undefined
          ? []
          : [
              {
                ...axis,
                scale: "line",
                side: 1,
                size: AXIS_WIDTH,
                grid: { show: false },
                values: (_: uPlot, at: number[]) => at.map(formatDollars),
              },
            ]),
      ],
      series: [
        {},
        ...stacked.map((_, at) => ({
          fill: COLOURS[(stacked.length - 1 - at) % COLOURS.length] ?? "",
          width: 0,
          points: { show: false },
          ...(bars !== undefined && { paths: bars }),
        })),
        ...(line === undefined ? [] : [{ scale: "line", stroke: ink, width: 2, points: { show: false } }]),
      ],
      hooks: {
        setCursor: [({ cursor }) => (values.textContent = describeTime(chart, cursor.idx))],
        setSelect: [
          ({ select, posToVal }) => {
            if (select.width === 0) return;
            const [first, last] = [select.left, select.left + select.width].map((x) =>
              Math.round(posToVal(x, "x")),
            );
            onSelect?.(
              times[Math.max(0, first ?? 0)] ?? "",
              times[Math.min(times.length - 1, last ?? 0)] ?? "",
            );
          },
        ],
      },
    },
    [
      times.map((_, index) => index),
      ...stacked.map((sums) => [...sums]),
      ...(line === undefined ? [] : [[...line.values]]),
    ],
    place,
  );
}

/** Sums from below, the highest first, so that each covers what is above it. */
function stack(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series) sums.push(values.map((value, at) => value + (sums.at(-1)?.[at] ?? 0)));
  return sums.toReversed();
}

/** The values at a time, the names first that have some; empty where the pointer is elsewhere. */
function describeTime({ times, series, unit, line }: Chart, at: number | null | undefined): string {
  const time = times[at ?? -1];
  if (time === undefined || at === null || at === undefined) return "";
  const format = unit === "cost" ? formatDollars : formatCompact;
  const parts = series
    .filter(({ values }) => (values[at] ?? 0) > 0)
    .map(({ name, values }) => `${toPrintable(name)} ${format(values[at] ?? 0)}`);
  const cost = line === undefined ? [] : [`${line.name} ${formatDollars(line.values[at] ?? 0)}`];
  return `${time}: ${[...parts, ...cost].join(", ") || "nothing"}`;
}

/** `14:00` of an hour, and `11-24` of a day; other times are short. */
function shortTime(time: string): string {
  if (isDay(time)) return time.slice("YYYY-".length);
  return /^\d{4}-/.test(time) ? time.slice("YYYY-MM-DD ".length) : time;
}
