import { element } from "./elements.ts";
import type { Sums } from "./feed-types.ts";
import { formatCount, formatDollars, formatShare } from "./numbers.ts";
import { certaintyOf, costOf, inputOf } from "./usage-sums.ts";

/** Shows sums beside those of the span before, which `title` names. */
export function glance(total: Sums, before: Sums, title: string): HTMLElement {
  const [input, inputBefore] = [inputOf(total), inputOf(before)];
  return element(
    "section",
    { class: "glance", attributes: { "aria-label": "at a glance" } },
    card("Cost", costOf(total), `${title}: ${costOf(before)}`),
    card("Requests", formatCount(total.requests), `${title}: ${formatCount(before.requests)}`),
    card("Tokens in", formatCount(input), `${title}: ${formatCount(inputBefore)}`),
    card("Tokens out", formatCount(total.output), `${title}: ${formatCount(before.output)}`),
    card(
      "From cache",
      shareOf(total.cache_read, input),
      `${savedBy(total)}; ${title}: ${shareOf(before.cache_read, inputBefore)}`,
    ),
    card(
      "Failed",
      shareOf(total.failed, total.requests),
      `${formatCount(total.failed)} failed, ${formatCount(total.cut)} cut short; ${title}: ${shareOf(before.failed, before.requests)}`,
    ),
    card("Certainty", certaintyOf(total), coverageOf(total)),
  );
}

function shareOf(part: number, whole: number): string {
  return formatShare(part, whole) || "–";
}

/** Writing to a cache costs more than it saves until it is read. */
function savedBy({ cache_saved_usd: saved }: Sums): string {
  const dollars = Number(saved);
  return dollars < 0 ? `cost ${formatDollars(-dollars)} more` : `saved ${formatDollars(dollars)}`;
}

function coverageOf({ requests, partial, absent, unpriced }: Sums): string {
  const parts = [
    partial > 0 ? `${formatCount(partial)} partly counted` : "",
    absent > 0 ? `${formatCount(absent)} without usage` : "",
    unpriced.length > 0 ? `${formatCount(unpriced.length)} without a price` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? `all ${formatCount(requests)} requests are counted` : parts.join(", ");
}

function card(title: string, value: string, detail: string): HTMLElement {
  return element(
    "div",
    { class: "card" },
    element("h2", {}, title),
    element("strong", {}, value),
    element("small", {}, detail),
  );
}
