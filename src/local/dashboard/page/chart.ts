import { chartArea } from "./chart/area.ts";
import { colourAt, sumOf, sumsOf, type Chart } from "./chart/charted.ts";
import { followKeys } from "./chart/keys.ts";
import { drawPlot, USUAL_HEIGHT } from "./chart/plot.ts";
import { element } from "./elements.ts";
import { formatCompact, formatDollars } from "./numbers.ts";

const HINT = "Click a bar or drag over several to zoom in.";
const KEYS_HINT = "← → go from bar to bar, Shift selects several, Enter zooms in.";

/** Returns a chart, which keys reach too. The table beneath it has the same figures for those who do not see it. It is drawn once it has a width. */
export function chartOf(chart: Chart): HTMLElement {
  const { title, times, series, line, before, onSelect, isSideBySide = false } = chart;
  const format = chart.unit === "cost" ? formatDollars : formatCompact;
  const heading = element("span", {}, title);
  const hint = element("small", { class: "hint" }, onSelect === undefined ? null : HINT);
  const items = [...series, ...[line, before].filter((one) => one !== undefined)].map((one, at) => {
    const mark = one === before ? "dashes" : one === line ? "line" : colourAt(series, at);
    const value = element("span", { class: "value" });
    const content = [element("span", { class: `mark mark-${mark}` }), element("span", {}, one.name), value];
    const onclick = () => chart.onName?.(one.name);
    return {
      ...one,
      value,
      item: element("li", { class: one === before ? "before" : "", onclick }, ...content),
    };
  });
  // Tokens of requests are no sum that says anything, and neither is a line that has summed them up.
  const hasSums = line === undefined;
  const hasTotal = hasSums && !isSideBySide;
  const sums = sumsOf(chart);
  /** Says what the pointer is at; what all of it is, where it is elsewhere. */
  const point = (at: number | null) => {
    const time = times[at ?? -1];
    heading.textContent =
      at === null || time === undefined
        ? title
        : `${nameOfTime(chart, at)}${hasTotal ? `: ${chart.sumWords?.[at] ?? format(sums[at] ?? 0)}` : ""}`;
    for (const { value, values, name, word, words } of items) {
      const isMoney = chart.unit === "cost" || name === line?.name;
      const known = time === undefined ? (hasSums ? sumOf(values) : null) : (values[at ?? -1] ?? 0);
      const text = known === null ? "" : (isMoney ? formatDollars : formatCompact)(known);
      value.textContent = (time === undefined ? word : words?.[at ?? -1]) ?? text;
    }
  };
  point(null);
  const place = element("div", {
    class: "plot",
    tabIndex: 0,
    role: "slider",
    ariaLabel: title,
  });
  place.style.height = `${chart.height ?? USUAL_HEIGHT}px`;
  if (onSelect !== undefined) {
    place.addEventListener("focus", () => {
      if (place.matches(":focus-visible")) hint.textContent = KEYS_HINT;
    });
    place.addEventListener("blur", () => (hint.textContent = HINT));
  }
  if (times.length > 0) keepDrawn(place, point, chart);
  // What changes as somebody points at the bars. Who hears the page gets it from the slider.
  const isSilent = { "aria-hidden": "true" };
  return element(
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
}

/** Draws a chart as wide as its place is, whenever that changes. */
function keepDrawn(place: HTMLElement, onPoint: (at: number | null) => void, chart: Chart): void {
  const { times, onSelect } = chart;
  const area = chartArea(times.length, onPoint, onSelect);
  let drawn: Element | null = null;
  new ResizeObserver(() => {
    if (place.clientWidth === 0) return;
    const { drawing, inset } = drawPlot(chart, place.clientWidth);
    for (const [edge, pixels] of Object.entries(inset)) area.element.style.setProperty(edge, `${pixels}px`);
    if (drawn === null) {
      place.append(drawing, area.element);
      followKeys(place, {
        area,
        count: times.length,
        describe: (at) => describeTime(chart, at),
        onSelect,
      });
    } else drawn.replaceWith(drawing);
    drawn = drawing;
  }).observe(place);
}

/** Names a time, and says if it is not over. */
function nameOfTime({ times, isUnfinished }: Chart, at: number): string {
  const name = times[at]?.whole ?? "";
  return isUnfinished === true && at === times.length - 1 ? `${name}, so far` : name;
}

/** Says in words what a chart has at a time: `Tuesday, November 24: ≥$70.31. codex ≥$16.20, zed $16.02`. */
function describeTime(chart: Chart, at: number): string {
  const { series, line, unit, sumWords, isSideBySide = false } = chart;
  const format = unit === "cost" ? formatDollars : formatCompact;
  const sum = sumWords?.[at] ?? format(sumOf(series.map(({ values }) => values[at] ?? 0)));
  const shown = series.filter(({ values, words }) => (values[at] ?? 0) !== 0 || words?.[at] !== undefined);
  const parts = [
    ...shown.map(({ name, values, words }) => `${name} ${words?.[at] ?? format(values[at] ?? 0)}`),
    ...(line === undefined
      ? []
      : [`${line.name} ${line.words?.[at] ?? formatDollars(line.values[at] ?? 0)}`]),
  ];
  const start = isSideBySide ? [] : [sum];
  return `${nameOfTime(chart, at)}: ${[...start, ...(parts.length === 0 ? [] : [parts.join(", ")])].join(". ")}`;
}
