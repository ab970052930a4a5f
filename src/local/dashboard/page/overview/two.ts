import { choice, element } from "../elements.ts";
import type { Row } from "../feed-types.ts";
import { formatChange, formatCount, formatDollars, formatLarge, formatShare } from "../numbers.ts";
import type { Change, State } from "../state.ts";
import { allOf, costOf, coverageOf, failedOf, inputOf, nameIn, wordForCost } from "../usage-sums.ts";
import { describePoints } from "./difference.ts";
import { OTHERS_COLOUR } from "./series-colours.ts";

/** A line of the comparison: what two rows have of a figure, and how much more the second one has. */
type Figure = readonly [what: string, one: string, other: string, change: string];

/** The two rows that are compared. */
type Two = readonly [one: Row, other: Row];

/** Returns the two rows that are chosen, or else the two that cost most; null where there are no two. */
export function chosenTwo(rows: readonly Row[], { by, one, other }: State): Two | null {
  const byCost = dearestFirst(rows);
  const first =
    byCost.find((row) => nameIn(row, by) === one) ?? byCost.find((row) => nameIn(row, by) !== other);
  const others = byCost.filter((row) => row !== first);
  const second = others.find((row) => nameIn(row, by) === other) ?? others[0];
  return first === undefined || second === undefined ? null : [first, second];
}

function dearestFirst(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => usdOf(other) - usdOf(one));
}

/** Shows two of the rows side by side, with lists of all of them, from which a reader chooses the two. */
export function twoSideBySide(
  [one, other]: Two,
  rows: readonly Row[],
  { by }: State,
  colours: ReadonlyMap<string, number>,
  change: Change,
): HTMLElement {
  const [first, second] = [nameIn(one, by), nameIn(other, by)];
  const choices = dearestFirst(rows).map((row) => [nameIn(row, by), nameIn(row, by)] as const);
  return element(
    "section",
    { class: "beside", attributes: { "aria-label": "side by side" } },
    element(
      "div",
      { class: "controls" },
      choice(`${by[0]?.toUpperCase() ?? ""}${by.slice(1)}`, choices, first, (name) =>
        change({ one: name, other: second }),
      ),
      choice("with", choices, second, (name) => change({ one: first, other: name })),
    ),
    element(
      "div",
      { class: "scroll", attributes: { tabindex: "0", role: "group", "aria-label": "figures side by side" } },
      element(
        "table",
        {},
        element("caption", {}, `${first} and ${second}`),
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("td"),
            ...[first, second].map((name) => {
              const mark = element("span", { class: `mark mark-${colours.get(name) ?? OTHERS_COLOUR}` });
              return element("th", { attributes: { scope: "col" } }, mark, name);
            }),
            element("th", { attributes: { scope: "col" } }, "Difference"),
          ),
        ),
        element("tbody", {}, ...figuresOf(one, other).map(lineOf)),
      ),
    ),
  );
}

function lineOf([what, ...cells]: Figure): HTMLElement {
  return element(
    "tr",
    {},
    element("th", { attributes: { scope: "row" } }, what),
    ...cells.map((cell) => element("td", {}, cell)),
  );
}

function figuresOf(one: Row, other: Row): Figure[] {
  const figure = (what: string, valueOf: (row: Row) => number, format: (value: number) => string): Figure => [
    what,
    format(valueOf(one)),
    format(valueOf(other)),
    formatChange(valueOf(other), valueOf(one)),
  ];
  const isKnown = one.cost_usd !== null && other.cost_usd !== null;
  return [
    ["Cost", costOf(one), costOf(other), isKnown ? formatChange(usdOf(other), usdOf(one)) : ""],
    [
      "Cost per request",
      costOfEach(one),
      costOfEach(other),
      isKnown ? formatChange(each(usdOf)(other), each(usdOf)(one)) : "",
    ],
    figure("Requests", allOf, formatCount),
    figure("Tokens in", inputOf, formatLarge),
    figure("Tokens in per request", each(inputOf), formatWhole),
    fromCache(one, other),
    figure("Tokens out", ({ output }) => output, formatLarge),
    figure(
      "Tokens out per request",
      each(({ output }) => output),
      formatWhole,
    ),
    [
      "Failed",
      describeFailed(one),
      describeFailed(other),
      describePoints(each(failedOf)(other), each(failedOf)(one)),
    ],
    ["Certainty", coverageOf(one), coverageOf(other), ""],
  ];
}

function describeFailed(row: Row): string {
  const failed = failedOf(row);
  return `${formatCount(failed)} (${formatShare(failed, allOf(row)) || "0%"})`;
}

/** There is no share of nothing. */
function fromCache(one: Row, other: Row): Figure {
  const [input, otherInput] = [inputOf(one), inputOf(other)];
  const isKnown = input > 0 && otherInput > 0;
  return [
    "From cache",
    formatShare(one.cache_read, input) || "–",
    formatShare(other.cache_read, otherInput) || "–",
    isKnown ? describePoints(other.cache_read / otherInput, one.cache_read / input) : "",
  ];
}

function usdOf(row: Row): number {
  return Number(row.cost_usd);
}

function costOfEach(row: Row): string {
  return wordForCost(row) ?? `${row.cost_is_exact ? "" : "≥"}${formatDollars(each(usdOf)(row))}`;
}

/** Of a request. */
function each(valueOf: (row: Row) => number): (row: Row) => number {
  return (row) => valueOf(row) / (allOf(row) || 1);
}

function formatWhole(value: number): string {
  return formatCount(Math.round(value));
}
