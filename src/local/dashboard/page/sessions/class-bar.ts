import { element } from "../elements.ts";
import type { PricedRecord } from "../feed-types.ts";
import { formatDollars, formatShare } from "../numbers.ts";
import { costsByClass } from "./session-requests.ts";

/** The colours of the chart beneath, by what is charged. */
const MARKS: readonly (readonly [start: string, mark: number])[] = [
  ["from cache", 0],
  ["to cache", 1],
  ["uncached", 2],
  ["output", 3],
];
const OTHER_MARK = 7;

function markOf(name: string): number {
  return MARKS.find(([start]) => name.startsWith(start))?.[1] ?? OTHER_MARK;
}

/** Shows what the money was spent on, the most first, as parts of a bar. Nothing if nothing is known to have cost anything. */
export function classBar(records: readonly PricedRecord[]): HTMLElement[] {
  const costs = costsByClass(records).filter(({ dollars }) => dollars > 0);
  const all = costs.reduce((sum, { dollars }) => sum + dollars, 0);
  if (all === 0) return [];
  const isExact = records.every(({ cost }) => cost.is_complete && !cost.is_lower_bound);
  const parts = costs.map(({ name, dollars }) => {
    const part = element("span", { class: `mark-${markOf(name)}` });
    part.style.width = `${(100 * dollars) / all}%`;
    return part;
  });
  const items = costs.map(({ name, dollars }) =>
    element(
      "li",
      {},
      element("span", { class: `mark mark-${markOf(name)}` }),
      element("span", {}, name),
      element(
        "span",
        { class: "value" },
        `${isExact ? "" : "≥"}${formatDollars(dollars)} (${formatShare(dollars, all)})`,
      ),
    ),
  );
  return [
    element(
      "section",
      { class: "classes", ariaLabel: "cost by class" },
      element("h3", {}, "What the money went to"),
      element("div", { class: "bar", ariaHidden: "true" }, ...parts),
      element("ul", { class: "legend" }, ...items),
    ),
  ];
}
