import { formatAxisDollars, formatCompact, formatCount, formatDollars } from "../numbers.ts";
import { END_SPACE, widthInTimes } from "./area.ts";
import { labelledPlaces, ticksOfAxis } from "./axis.ts";
import { colourAt, heightsOf, type Chart, type ChartMark } from "./charted.ts";

/** Pixels. */
export const USUAL_HEIGHT = 260;
const TOP = 20;
const TIMES_HEIGHT = 24;
const NUMBERED_TIMES_HEIGHT = 42;
const LINE_HEIGHT = 16;
const LETTER_WIDTH = 8;
const GAP = 8;
const MARK_SIZE = 5;
/** Of the room of its time, and pixels. */
const BAR_SHARE = 0.75;
const MOST_BAR = 64;

/** A drawing, and where in it the bars are: pixels from its edges. */
interface Plot {
  drawing: SVGElement;
  inset: { left: number; right: number; top: number; bottom: number };
}

/** Where on a drawing the times and values are, in pixels. */
interface Scale {
  left: number;
  right: number;
  bottom: number;
  bar: number;
  /** The middle of a time. */
  x(at: number): number;
  y(value: number): number;
  /** The same for dollars of the line. */
  ofLine(value: number): number;
}

/** Draws a chart that is so many pixels wide. Its colours are those of the style. */
export function drawPlot(chart: Chart, width: number): Plot {
  const { times, line, before, unit, firstNumber, height = USUAL_HEIGHT } = chart;
  const heights = heightsOf(chart);
  const ticks = ticksOfAxis(Math.max(0, ...heights, ...(before?.values ?? []).map(Number)));
  // As many as at the left, so that they have the same lines.
  const lineTicks = ticksOfAxis(Math.max(0, ...(line?.values ?? [])), ticks.length - 1);
  const labels = unit === "cost" ? labelDollars(ticks) : ticks.map(formatCompact);
  const lineLabels = line === undefined ? [] : labelDollars(lineTicks);
  const left = widthOf(labels);
  const right = width - (line === undefined ? GAP : widthOf(lineLabels));
  const bottom = height - (firstNumber === undefined ? TIMES_HEIGHT : NUMBERED_TIMES_HEIGHT);
  const slot = (right - left) / widthInTimes(times.length);
  const heightOf = (value: number, ends: readonly number[]) =>
    bottom - ((bottom - TOP) * value) / (ends.at(-1) ?? 1);
  const scale: Scale = {
    left,
    right,
    bottom,
    bar: Math.min(MOST_BAR, BAR_SHARE * slot),
    x: (at) => left + slot * (at + END_SPACE + 0.5),
    y: (value) => heightOf(value, ticks),
    ofLine: (value) => heightOf(value, lineTicks),
  };
  const drawing = shape(
    "svg",
    { width: String(width), height: String(height), "aria-hidden": "true" },
    path("grid", ticks.map((tick) => `M${left} ${scale.y(tick)}H${right}`).join("")),
    ...labels.map((label, at) => text(left - GAP, scale.y(ticks[at] ?? 0), "end", label)),
    ...lineLabels.map((label, at) => text(right + GAP, scale.ofLine(lineTicks[at] ?? 0), "start", label)),
    ...timeLabels(chart, scale, slot),
    ...barsOf(chart, scale),
    ...(line === undefined ? highest(heights, chart, scale) : [lineOf(line.values, scale)]),
    ...(before === undefined ? [] : [dashesOf(before.values, scale)]),
    ...(chart.marks ?? []).map((mark, at, all) => markOf(mark, heights, all.slice(0, at), scale)),
  );
  return { drawing, inset: { left, right: width - right, top: TOP, bottom: height - bottom } };
}

function labelDollars(ticks: readonly number[]): string[] {
  return ticks.map((tick) => formatAxisDollars(tick, ticks[1] ?? 1));
}

function widthOf(labels: readonly string[]): number {
  return GAP + LETTER_WIDTH * Math.max(...labels.map((label) => label.length));
}

/** Labels of the times, of which equal ones stand once. */
function timeLabels(
  { times, firstNumber, isUnfinished = false }: Chart,
  scale: Scale,
  slot: number,
): SVGElement[] {
  const y = scale.bottom + LINE_HEIGHT;
  let last = "";
  return labelledPlaces(times.length, slot, firstNumber, isUnfinished).flatMap((at) => {
    const brief = times[at]?.brief ?? "";
    const x = Math.min(scale.x(at), scale.right - (LETTER_WIDTH * brief.length) / 2 + GAP);
    if (firstNumber !== undefined)
      return [text(x, y, "middle", formatCount(firstNumber + at)), text(x, y + LINE_HEIGHT, "middle", brief)];
    const isNew = brief !== last;
    last = brief;
    return isNew ? [text(x, y, "middle", brief)] : [];
  });
}

/** The bars of each series in one path, and in another that of a time which is not over. */
function barsOf(
  { times, series, isUnfinished = false, isSideBySide = false }: Chart,
  { bar, x, y }: Scale,
): SVGElement[] {
  const below = times.map(() => 0);
  const width = isSideBySide ? bar / series.length : bar;
  return series.flatMap(({ values }, at) => {
    const offset = isSideBySide ? at * width : 0;
    const parts = times.map((_, time) => {
      const start = isSideBySide ? 0 : (below[time] ?? 0);
      const end = (below[time] = start + (values[time] ?? 0));
      if (end === start) return "";
      return `M${x(time) - bar / 2 + offset} ${y(start)}V${y(end)}h${width}V${y(start)}z`;
    });
    const open = isUnfinished ? parts.pop() : undefined;
    const colour = `bars mark-${colourAt(series, at)}`;
    return [
      path(colour, parts.join("")),
      ...(open === undefined ? [] : [path(`${colour} unfinished`, open)]),
    ];
  });
}

/** Says what the highest of several bars comes to. */
function highest(heights: readonly number[], chart: Chart, { x, y, left, right }: Scale): SVGElement[] {
  const most = Math.max(0, ...heights);
  if (most === 0 || heights.length < 2) return [];
  const { unit, series, sumWords, isSideBySide = false } = chart;
  const at = heights.indexOf(most);
  const words = isSideBySide ? series.find(({ values }) => values[at] === most)?.words : sumWords;
  const said = words?.[at] ?? (unit === "cost" ? formatDollars(most) : formatCompact(most));
  const half = (LETTER_WIDTH * said.length) / 2;
  const middle = Math.min(right - half, Math.max(left + half, x(at)));
  return [text(middle, y(most) - GAP, "middle", said)];
}

function lineOf(values: readonly number[], { x, ofLine }: Scale): SVGElement {
  return path("line", `M${values.map((value, at) => `${x(at)} ${ofLine(value)}`).join("L")}`);
}

/** Pixels. Less than two dashes of the style look like dirt. */
const LEAST_DASHED = 12;

/**
 * A dash for each earlier hour or day that had something, as wide as its bar: a line between two would say something of the time between.
 * It is a line without gaps where bars are narrow.
 */
function dashesOf(values: readonly (number | null)[], { x, y, bar }: Scale): SVGElement {
  return path(
    bar < LEAST_DASHED ? "dashes whole" : "dashes",
    values.map((value, at) => (!value ? "" : `M${x(at) - bar / 2} ${y(value)}h${bar}`)).join(""),
  );
}

/** What stands out: triangles or crosses above bars, or where bars would be. On a bar, some of its colours would hide a mark. */
function markOf(
  { shape: form, places }: ChartMark,
  heights: readonly number[],
  below: readonly ChartMark[],
  scale: Scale,
): SVGElement {
  const size = MARK_SIZE;
  const parts = places.map((at) => {
    const x = scale.x(at);
    // A bar may have two.
    const lift = 2.5 * size * below.filter((mark) => mark.places.includes(at)).length;
    const foot = Math.max(TOP, scale.y(heights[at] ?? 0) - size / 2) - lift;
    if (form === "triangle") return `M${x} ${foot}l${-size} ${-1.5 * size}h${2 * size}z`;
    const y = foot - size;
    return [-1, 1].map((side) => `M${x - size} ${y - side * size}l${2 * size} ${2 * side * size}`).join("");
  });
  return path(`${form} mark-${form}`, parts.join(""));
}

function path(name: string, d: string): SVGElement {
  return shape("path", { class: name, d });
}

function text(x: number, y: number, anchor: string, words: string): SVGElement {
  const label = shape("text", { x: String(x), y: String(y), dy: "0.35em", "text-anchor": anchor });
  label.textContent = words;
  return label;
}

function shape(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...contents: readonly Node[]
): SVGElement {
  const created = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...contents);
  return created;
}
