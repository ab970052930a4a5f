import uPlot from "uplot";
import { followKeys } from "./chart/keys.ts";
import { element } from "./elements.ts";
import { formatAxisDollars, formatCompact, formatCount, formatDollars } from "./numbers.ts";

/** One group's values, one for each time. */
export interface Series {
  name: string;
  /** A place in {@link COLOURS}; default: that of the series among the others. */
  colour?: number;
  values: readonly number[];
  /** What it comes to where that is no figure, such as `unpriced`. */
  word?: string | undefined;
}

/** A time of a chart, in words: for the axis and for the pointer. */
interface ChartTime {
  brief: string;
  whole: string;
}

/** What stands out at some of the times, each a place among them. */
export interface ChartMark {
  name: string;
  /** A triangle stands above its bar, a cross where a bar would be. */
  shape: "triangle" | "cross";
  places: readonly number[];
}

/** What a chart shows. */
interface Chart {
  title: string;
  times: readonly ChartTime[];
  /** Stacked, the first one at the bottom. */
  series: readonly Series[];
  unit: "cost" | "tokens";
  /** Of an earlier time, as dashes: null where that had no such hour or day. */
  before?: { name: string; values: readonly (number | null)[] };
  /** Dollars, as a line with an axis of its own. */
  line?: Series;
  /** The number of the first one, where they are numbered, as requests of a session are. Numbers are their labels then, with the times beneath. */
  firstNumber?: number;
  marks?: readonly ChartMark[];
  /** Called with the name of a series that somebody has clicked. The table beneath does the same for the keyboard. */
  onName?: (name: string) => void;
  /** Called with the places of the first and the last of the times that somebody has selected. */
  onSelect?: (first: number, last: number) => void;
}

/** Distinct with the usual colour blindnesses (Okabe and Ito, 2008), legible on white and on black. */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#b8a900", "#888888"];

const MARK_COLOURS = { triangle: "#cc79a7", cross: "#d55e00" } as const;

const HINT = "Click a bar or drag over several to zoom in.";
const KEYS_HINT = "← → go from bar to bar, Shift selects several, Enter zooms in.";

/** Pixels. */
const HEIGHT = 260;
const AXIS_WIDTH = 64;
const AXIS_HEIGHT = 28;
const NUMBERED_AXIS_HEIGHT = 44;
const MARK_SIZE = 5;
/** Of the room of its time, and pixels. */
const BAR_SHARE = 0.75;
const MOST_BAR = 64;
/** So many steps or fewer, the last of which is not below the highest value. */
const MOST_STEPS = 5;
const STEPS = [1, 2, 2.5, 5, 10];

/** Returns a chart, which keys reach too. The table beneath it has the same figures for those who do not see it. It is drawn once it has a width. */
export function chartOf(chart: Chart): HTMLElement {
  const { title, times, series, line, before, onSelect } = chart;
  const format = chart.unit === "cost" ? formatDollars : formatCompact;
  const heading = element("span", {}, title);
  const hint = element("small", { class: "hint" }, onSelect === undefined ? null : HINT);
  const items = [...series, ...[line, before].filter((one) => one !== undefined)].map((one, at) => {
    const shape =
      one === before
        ? "mark mark-dashes"
        : one === line
          ? "mark mark-line"
          : `mark mark-${colourAt(series, at)}`;
    const value = element("span", { class: "value" });
    const content = [element("span", { class: shape }), element("span", {}, one.name), value];
    const onclick = () => chart.onName?.(one.name);
    return {
      ...one,
      word: series.find((own) => own === one)?.word,
      value,
      item: element("li", { class: one === before ? "before" : "", onclick }, ...content),
    };
  });
  // Tokens of requests are no sum that says anything, and neither is a line that has summed them up.
  const hasSums = line === undefined;
  /** Says what the pointer is at; what all of it is, where it is elsewhere. */
  const point = (at: number | null | undefined) => {
    const time = times[at ?? -1];
    const all = hasSums ? `: ${format(sumOf(series.map(({ values }) => values[at ?? -1] ?? 0)))}` : "";
    heading.textContent = time === undefined ? title : `${time.whole}${all}`;
    for (const { value, values, name, word } of items) {
      const isMoney = chart.unit === "cost" || name === line?.name;
      const known = time === undefined ? (hasSums ? sumOf(values) : null) : (values[at ?? -1] ?? 0);
      const text = known === null ? "" : (isMoney ? formatDollars : formatCompact)(known);
      value.textContent = time === undefined ? (word ?? text) : text;
    }
  };
  point(null);
  const place = element("div", {
    class: "plot",
    attributes: { tabindex: "0", role: "slider", "aria-label": title },
  });
  if (onSelect !== undefined) {
    place.addEventListener("focus", () => {
      if (place.matches(":focus-visible")) hint.textContent = KEYS_HINT;
    });
    place.addEventListener("blur", () => (hint.textContent = HINT));
  }
  // What changes as somebody points at the bars. Who hears the page gets it from the slider.
  const isSilent = { "aria-hidden": "true" };
  const figure = element(
    "div",
    { class: "chart" },
    element("p", { class: "title", attributes: isSilent }, heading, hint),
    element(
      "ul",
      { class: "legend", attributes: isSilent },
      ...items.map(({ item }) => item),
      ...(chart.marks ?? []).map(({ name, shape }) =>
        element("li", {}, element("span", { class: `mark mark-${shape}` }), element("span", {}, name)),
      ),
    ),
    place,
  );
  if (times.length > 0) requestAnimationFrame(() => draw(place, point, chart));
  return figure;
}

function colourAt(series: readonly Series[], at: number): number {
  return series[at]?.colour ?? at % COLOURS.length;
}

function sumOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

function draw(place: HTMLElement, point: (at: number | null | undefined) => void, chart: Chart): void {
  const { times, series, line, before, onSelect } = chart;
  const stacked = stack(series);
  const ink = getComputedStyle(place).color;
  const bars = uPlot.paths.bars?.({ size: [BAR_SHARE, MOST_BAR] });
  const first = chart.firstNumber ?? 0;
  const last = times.length - 1;
  /** A drag ends with a click. */
  let isDragged = false;
  // Draws itself into its parent.
  const drawn = new uPlot(
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
        x: { time: false, range: [first - 0.6, first + last + 0.6] },
        y: { range: (_, __, most) => [0, endOfAxis(most)] },
        line: { range: (_, __, most) => [0, endOfAxis(most)] },
      },
      axes: axesOf(chart, ink),
      series: [
        {},
        ...stacked.map((_, at) => ({
          fill: COLOURS[colourAt(series, stacked.length - 1 - at)] ?? "",
          width: 0,
          points: { show: false },
          ...(bars !== undefined && { paths: bars }),
        })),
        ...(line === undefined ? [] : [{ scale: "line", stroke: ink, width: 2, points: { show: false } }]),
        ...(before === undefined ? [] : [{ points: { show: false }, paths: () => null }]),
      ],
      hooks: {
        ready: [
          ({ over, cursor }) => {
            if (onSelect === undefined) return;
            over.addEventListener("click", () => {
              if (!isDragged && typeof cursor.idx === "number") onSelect(cursor.idx, cursor.idx);
            });
          },
        ],
        setCursor: [({ cursor }) => point(cursor.idx)],
        draw: [
          (self) => drawBefore(self, before?.values ?? [], ink),
          (self) => drawMarks(self, chart, stacked[0] ?? []),
        ],
        setSelect: [
          ({ select, posToVal }) => {
            if (select.width === 0) return;
            isDragged = true;
            const ends = [select.left, select.left + select.width].map(
              (x) => Math.round(posToVal(x, "x")) - first,
            );
            onSelect?.(Math.max(0, ends[0] ?? 0), Math.min(last, ends[1] ?? last));
          },
        ],
      },
    },
    [
      times.map((_, index) => first + index),
      ...stacked.map((sums) => [...sums]),
      ...(line === undefined ? [] : [[...line.values]]),
      ...(before === undefined ? [] : [[...before.values]]),
    ],
    place,
  );
  followKeys(place, {
    drawn,
    first,
    count: times.length,
    describe: (at) => describeTime(chart, at),
    onSelect,
  });
}

/** Says in words what a chart has at a time: `Tuesday, November 24: $70.31. codex $16.20, zed $16.02`. */
function describeTime({ times, series, line, unit }: Chart, at: number): string {
  const format = unit === "cost" ? formatDollars : formatCompact;
  const values = series.map(({ name, values: all }) => ({ name, value: all[at] ?? 0 }));
  const sum = sumOf(values.map(({ value }) => value));
  const parts = [
    ...values.filter(({ value }) => value !== 0).map(({ name, value }) => `${name} ${format(value)}`),
    ...(line === undefined ? [] : [`${line.name} ${formatDollars(line.values[at] ?? 0)}`]),
  ];
  return [
    `${times[at]?.whole ?? ""}: ${format(sum)}`,
    ...(parts.length === 0 ? [] : [parts.join(", ")]),
  ].join(". ");
}

/** Draws a dash for each earlier hour or day, as wide as its bar: a line between two would say something of the time between. */
function drawBefore(drawn: uPlot, values: readonly (number | null)[], ink: string): void {
  const { ctx } = drawn;
  const width = Math.min(
    MOST_BAR * devicePixelRatio,
    BAR_SHARE * (drawn.valToPos(1, "x", true) - drawn.valToPos(0, "x", true)),
  );
  ctx.save();
  ctx.strokeStyle = ink;
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  values.forEach((value, at) => {
    if (value === null) return;
    const [x, y] = [drawn.valToPos(at, "x", true), drawn.valToPos(value, "y", true)];
    ctx.moveTo(x - width / 2, y);
    ctx.lineTo(x + width / 2, y);
  });
  ctx.stroke();
  ctx.restore();
}

/** Draws what stands out: a triangle above its bar, a cross at the place of a missing one. */
function drawMarks(drawn: uPlot, { marks = [], firstNumber = 0 }: Chart, sums: readonly number[]): void {
  const { ctx, bbox } = drawn;
  const size = MARK_SIZE * devicePixelRatio;
  ctx.save();
  for (const { shape, places } of marks) {
    ctx.fillStyle = ctx.strokeStyle = MARK_COLOURS[shape];
    ctx.lineWidth = size / 2;
    for (const place of places) {
      const x = drawn.valToPos(firstNumber + place, "x", true);
      ctx.beginPath();
      if (shape === "triangle") {
        const y = Math.max(bbox.top + size, drawn.valToPos(sums[place] ?? 0, "y", true) - size / 2);
        ctx.moveTo(x, y);
        ctx.lineTo(x - size, y - 1.5 * size);
        ctx.lineTo(x + size, y - 1.5 * size);
        ctx.fill();
      } else {
        const y = bbox.top + bbox.height - 1.5 * size;
        for (const side of [-1, 1]) {
          ctx.moveTo(x - size, y - side * size);
          ctx.lineTo(x + size, y + side * size);
        }
        ctx.stroke();
      }
    }
  }
  ctx.restore();
}

/** Returns the distance of the ticks of an axis: 1, 2, 2.5 or 5 of a power of ten. */
function stepOfAxis(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / MOST_STEPS));
  return power * (STEPS.find((step) => step * power * MOST_STEPS >= most) ?? 10);
}

/** Returns the first tick that is not below the highest value, so that the axis says how high that is. */
function endOfAxis(most: number): number {
  if (!(most > 0)) return 1;
  const step = stepOfAxis(most);
  return Math.ceil(most / step - 1e-9) * step;
}

/** Returns the ticks from 0 to the end of an axis. */
function ticksOfAxis(_: uPlot, __: number, ___: number, end: number): number[] {
  const step = stepOfAxis(end);
  return Array.from({ length: Math.round(end / step) + 1 }, (____, at) => at * step);
}

function dollarTicks(_: uPlot, at: number[]): string[] {
  const [first = 0, second = 1] = at;
  return at.map((value) => formatAxisDollars(value, second - first));
}

function tokenTicks(_: uPlot, at: number[]): string[] {
  return at.map(formatCompact);
}

function axesOf({ times, unit, line, firstNumber }: Chart, ink: string): uPlot.Axis[] {
  const axis = { stroke: ink, ticks: { show: false } };
  const grid = { stroke: "#8884", width: 1 };
  return [
    {
      ...axis,
      gap: 6,
      space: 64,
      grid: { show: false },
      ...(firstNumber === undefined
        ? {
            size: AXIS_HEIGHT,
            incrs: [1, 2, 5, 7, 14, 30, 60],
            values: (_, at) => at.map((index, i) => labelOf(times[index], times[at[i - 1] ?? -1])),
          }
        : {
            size: NUMBERED_AXIS_HEIGHT,
            incrs: [1, 2, 5, 10, 20, 50, 100],
            values: (_, at) =>
              at.map((number) => `${formatCount(number)}\n${times[number - firstNumber]?.brief ?? ""}`),
          }),
    },
    {
      ...axis,
      grid,
      splits: ticksOfAxis,
      size: AXIS_WIDTH,
      values: unit === "cost" ? dollarTicks : tokenTicks,
    },
    ...(line === undefined
      ? []
      : [
          {
            ...axis,
            scale: "line",
            side: 1,
            splits: ticksOfAxis,
            size: AXIS_WIDTH,
            grid: { show: false },
            values: dollarTicks,
          },
        ]),
  ];
}

/** Returns the label of a tick; empty if the previous tick has the same one. */
function labelOf(time: ChartTime | undefined, before: ChartTime | undefined): string {
  return time === undefined || time.brief === before?.brief ? "" : time.brief;
}

/** Sums from below, the highest first, so that each covers what is above it. */
function stack(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series) sums.push(values.map((value, at) => value + (sums.at(-1)?.[at] ?? 0)));
  return sums.toReversed();
}
