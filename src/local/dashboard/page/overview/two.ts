import { choice, element } from "../elements.ts";
import type { TimedRow } from "../feed-types.ts";
import {
  decimalsOf,
  formatAlike,
  formatCount,
  formatDollarsIn,
  formatSeconds,
  formatShare,
} from "../numbers.ts";
import { formatSpeed } from "../requests/speed.ts";
import { nameGroup } from "../project-names.ts";
import type { Change, State } from "../state.ts";
import { allOf, coverageOf, failedOf, inputOf, nameIn, wordForCost } from "../usage-sums.ts";
import { describePoints } from "./difference.ts";
import { approximately, FAST, howMuch, LONG, MANY } from "./how-much.ts";
import { OTHERS_COLOUR } from "./series-colours.ts";
import { verdictOf } from "./verdict.ts";

/** A line of the comparison: what two rows have of a figure, and in words how much the second one has beside the first. */
interface Figure {
  what: string;
  texts: readonly string[];
  change: string;
  /** For bars; none where their lengths would say nothing. */
  values?: readonly number[];
}

/** The two rows that are compared. */
type Two = readonly [one: TimedRow, other: TimedRow];

/** Returns the two rows that are chosen, or else the two that cost most; null where there are no two. */
export function chosenTwo(rows: readonly TimedRow[], { by, one, other }: State): Two | null {
  const byCost = dearestFirst(rows);
  const first =
    byCost.find((row) => nameIn(row, by) === one) ?? byCost.find((row) => nameIn(row, by) !== other);
  const others = byCost.filter((row) => row !== first);
  const second = others.find((row) => nameIn(row, by) === other) ?? others[0];
  return first === undefined || second === undefined ? null : [first, second];
}

function dearestFirst(rows: readonly TimedRow[]): TimedRow[] {
  return rows.toSorted((one, other) => usdOf(other) - usdOf(one));
}

/**
 * Shows two of the rows side by side: a verdict, what a request of each costs, takes and has, and the sums. Lists of all rows are above, from
 * which a reader chooses the two.
 */
export function twoSideBySide(
  two: Two,
  rows: readonly TimedRow[],
  { by }: State,
  colours: ReadonlyMap<string, number>,
  change: Change,
): HTMLElement {
  const [first, second] = [nameIn(two[0], by), nameIn(two[1], by)];
  const choices = dearestFirst(rows).map((row) => {
    const name = nameIn(row, by);
    return [name, nameGroup(by, name)] as const;
  });
  const shown = [first, second].map((name) => nameGroup(by, name));
  const marks = [first, second].map((name) => `mark-${colours.get(name) ?? OTHERS_COLOUR}`);
  const verdict = verdictOf(...two, by);
  const group = (title: string, figures: readonly Figure[]) =>
    element(
      "tbody",
      {},
      element(
        "tr",
        { class: "group" },
        element("th", { scope: "rowgroup", attributes: { colspan: "4" } }, title),
      ),
      ...figures.map((line) => lineOf(line, marks)),
    );
  return element(
    "section",
    { class: "beside", ariaLabel: "side by side" },
    element(
      "div",
      { class: "controls" },
      choice(`${by[0]?.toUpperCase() ?? ""}${by.slice(1)}`, choices, first, (name) =>
        change({ one: name, other: second }),
      ),
      choice("with", choices, second, (name) => change({ one: first, other: name })),
    ),
    verdict === "" ? null : element("p", { class: "verdict-of-two" }, verdict),
    element(
      "div",
      { class: "scroll", tabIndex: 0, role: "group", ariaLabel: "figures side by side" },
      element(
        "table",
        {},
        element("caption", {}, shown.join(" and ")),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("td"),
            ...shown.map((name, at) => {
              const mark = element("span", { class: `mark ${marks[at] ?? ""}` });
              return element("th", { scope: "col" }, mark, name);
            }),
            element("th", { scope: "col" }, `${shown[1] ?? ""} has`),
          ),
        ),
        group("Per request", figuresOfEach(two)),
        group("In all", figuresOfAll(two)),
      ),
    ),
  );
}

function lineOf({ what, texts, change, values = [] }: Figure, marks: readonly string[]): HTMLElement {
  const most = Math.max(...values);
  const cells = texts.map((text, at) => {
    const value = values[at];
    if (value === undefined || !(most > 0)) return element("td", {}, text);
    const bar = element("span", { class: `size ${marks[at] ?? ""}` });
    bar.style.width = `${(100 * value) / most}%`;
    return element("td", {}, text, bar);
  });
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, what),
    ...cells,
    element("td", { class: "change" }, change),
  );
}

function figuresOfEach(two: Two): Figure[] {
  const each = (what: string, valueOf: (row: TimedRow) => number): Figure => {
    const values = two.map((row) => perRequest(row, valueOf));
    return comparedFigure(what, values, formatAlike(values.map(Math.round)));
  };
  const failed = two.map((row) => perRequest(row, failedOf));
  return [
    costFigure("Cost", two, (row) => perRequest(row, usdOf)),
    ...medians(
      "First token (median)",
      two.map(({ ttft_ms: time }) => time),
      formatSeconds,
      LONG,
    ),
    ...medians(
      "Tokens a second (median)",
      two.map(({ tokens_per_second: speed }) => speed),
      formatSpeed,
      FAST,
    ),
    each("Tokens in", inputOf),
    each("Tokens out", ({ output }) => output),
    shares(
      "From cache",
      two.map(({ cache_read: read }) => read),
      two.map(inputOf),
    ),
    {
      what: "Failed",
      texts: two.map(
        (row, at) => `${formatCount(failedOf(row))} (${formatShare(failed[at] ?? 0, 1) || "0%"})`,
      ),
      change: pointsOf(failed),
    },
  ];
}

function figuresOfAll(two: Two): Figure[] {
  const sum = (what: string, valueOf: (row: TimedRow) => number, words?: typeof MANY): Figure => {
    const values = two.map(valueOf);
    return comparedFigure(what, values, formatAlike(values), words);
  };
  return [
    costFigure("Cost", two, usdOf),
    sum("Requests", allOf, MANY),
    sum("Tokens in", inputOf),
    sum("Tokens out", ({ output }) => output),
    { what: "Certainty", texts: two.map(coverageOf), change: "" },
  ];
}

function comparedFigure(
  what: string,
  values: readonly number[],
  texts: readonly string[],
  words?: typeof MANY,
): Figure {
  return { what, values, texts, change: howMuch(values[1] ?? 0, values[0] ?? 0, words)?.text ?? "" };
}

/** Costs have as many decimals as each other. There is no difference where nothing is known of one of them. */
function costFigure(what: string, two: Two, valueOf: (row: TimedRow) => number): Figure {
  const values = two.map(valueOf);
  const decimals = decimalsOf(values);
  const texts = two.map(
    (row, at) =>
      wordForCost(row) ?? `${row.cost_is_exact ? "" : "≥"}${formatDollarsIn(values[at] ?? 0, decimals)}`,
  );
  if (two.some(({ cost_usd: cost }) => cost === null)) return { what, texts, change: "" };
  const found = howMuch(values[1] ?? 0, values[0] ?? 0);
  const isExact = two.every((row) => row.cost_is_exact);
  const change = (found === null || isExact ? found : approximately(found))?.text ?? "";
  return { what, values, texts, change };
}

/** Nothing where neither has one. */
function medians(
  what: string,
  quantiles: readonly TimedRow["ttft_ms"][],
  format: (value: number) => string,
  words: typeof MANY,
): Figure[] {
  if (quantiles.every((one) => one === null)) return [];
  const texts = quantiles.map((one) => (one === null ? "–" : format(one.median)));
  const values = quantiles.flatMap((one) => one?.median ?? []);
  return [
    values.length === texts.length ? comparedFigure(what, values, texts, words) : { what, texts, change: "" },
  ];
}

/** There is no share of nothing. */
function shares(what: string, parts: readonly number[], wholes: readonly number[]): Figure {
  return {
    what,
    texts: parts.map((part, at) => formatShare(part, wholes[at] ?? 0) || "–"),
    change: wholes.every((whole) => whole > 0)
      ? pointsOf(parts.map((part, at) => part / (wholes[at] ?? 1)))
      : "",
  };
}

/** Such as `4 points less`. */
function pointsOf([one = 0, other = 0]: readonly number[]): string {
  const points = describePoints(other, one);
  return points === "" ? "as much" : `${points.slice(1)} ${points.startsWith("+") ? "more" : "less"}`;
}

function usdOf(row: TimedRow): number {
  return Number(row.cost_usd);
}

function perRequest(row: TimedRow, valueOf: (row: TimedRow) => number): number {
  return valueOf(row) / (allOf(row) || 1);
}
