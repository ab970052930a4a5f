import { choice, element } from "../elements.ts";
import type { Row } from "../feed-types.ts";
import { formatChange, formatCount, formatDollars, formatLarge, formatShare } from "../numbers.ts";
import type { Change, State } from "../state.ts";
import { costOf, coverageOf, failedOf, inputOf, nameIn } from "../usage-sums.ts";

/** A line of the comparison: what two rows have of a figure, and how much more the second one has. */
type Figure = readonly [what: string, one: string, other: string, change: string];

/** Shows two rows side by side: those that are chosen, or else the two that cost most. Null where there are no two. */
export function twoSideBySide(rows: readonly Row[], state: State, change: Change): HTMLElement | null {
  const { by } = state;
  const names = rows
    .toSorted((one, other) => Number(other.cost_usd) - Number(one.cost_usd))
    .map((row) => nameIn(row, by));
  const first = names.find((name) => name === state.one) ?? names.find((name) => name !== state.other);
  const second =
    names.find((name) => name === state.other && name !== first) ?? names.find((name) => name !== first);
  if (first === undefined || second === undefined) return null;
  const of = (name: string) => rows.find((row) => nameIn(row, by) === name);
  const [one, other] = [of(first), of(second)];
  if (one === undefined || other === undefined) return null;
  const choices = names.map((name) => [name, name] as const);
  return element(
    "section",
    { class: "beside", attributes: { "aria-label": "side by side" } },
    element(
      "div",
      { class: "controls" },
      choice("Compare", choices, first, (name) => change({ one: name, other: second })),
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
            ...["", first, second, "difference"].map((head) =>
              head === "" ? element("td") : element("th", { attributes: { scope: "col" } }, head),
            ),
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
  const texts = (what: string, textOf: (row: Row) => string): Figure => [
    what,
    textOf(one),
    textOf(other),
    "",
  ];
  return [
    ["cost", costOf(one), costOf(other), formatChange(usdOf(other), usdOf(one))],
    [
      "cost of a request",
      costOfEach(one),
      costOfEach(other),
      formatChange(each(usdOf)(other), each(usdOf)(one)),
    ],
    figure("requests", ({ requests }) => requests, formatCount),
    figure("tokens in", inputOf, formatLarge),
    figure("tokens in, of a request", each(inputOf), formatWhole),
    texts("from cache", (row) => formatShare(row.cache_read, inputOf(row)) || "–"),
    figure("tokens out", ({ output }) => output, formatLarge),
    figure(
      "tokens out, of a request",
      each(({ output }) => output),
      formatWhole,
    ),
    texts(
      "failed",
      (row) =>
        `${formatCount(failedOf(row))} (${formatShare(failedOf(row), row.requests + row.failed) || "0%"})`,
    ),
    texts("certainty of the cost", coverageOf),
  ];
}

function usdOf(row: Row): number {
  return Number(row.cost_usd);
}

function costOfEach(row: Row): string {
  return `${row.cost_is_exact ? "" : "≥"}${formatDollars(each(usdOf)(row))}`;
}

/** Of a request. */
function each(valueOf: (row: Row) => number): (row: Row) => number {
  return (row) => valueOf(row) / (row.requests || 1);
}

function formatWhole(value: number): string {
  return formatCount(Math.round(value));
}
