import { card, element } from "../elements.ts";
import type { Sums } from "../feed-types.ts";
import { formatChange, formatCount, formatDollars, formatShare } from "../numbers.ts";
import { formatState, type State } from "../state.ts";
import { certaintyOf, costOf, failedOf, inputOf, plainCostOf, worthOf } from "../usage-sums.ts";

/** Says what the cost of sums is compared with: that of the span before, which `title` names. */
export function costBefore(total: Sums, before: Sums, title = "before"): string {
  return than(Number(total.cost_usd), Number(before.cost_usd), plainCostOf(before), title);
}

/**
 * Shows sums beside those of the span before, which `title` names. The cost is left out where the page has it already.
 * @param state - what the page shows, for links to the requests behind a figure
 */
export function glance(
  total: Sums,
  before: Sums,
  title: string,
  { hasCost, state }: { hasCost: boolean; state: State },
): HTMLElement {
  const [input, inputBefore] = [inputOf(total), inputOf(before)];
  const hasWorth = total.plan_worth_usd !== null;
  return element(
    "section",
    { attributes: { "aria-label": "at a glance" } },
    element(
      "div",
      { class: layoutOf(hasCost, hasWorth) },
      ...(hasCost ? [card("Cost", costOf(total), costBefore(total, before))] : []),
      ...(hasWorth
        ? [
            card(
              "Worth of a plan",
              worthOf(total),
              worthBefore(total, before),
              "at the prices of a key; in no cost",
            ),
          ]
        : []),
      card(
        "Requests",
        formatCount(total.requests),
        than(total.requests, before.requests, formatCount(before.requests)),
      ),
      card("Not completed", lostOf(total), `before: ${lostOf(before)}`, waysToEnd(total, state)),
      card(
        "Tokens in",
        formatCount(input),
        than(input, inputBefore, formatCount(inputBefore)),
        `${formatCount(total.input_uncached)} uncached, ${formatCount(total.cache_read)} read from the cache, ${formatCount(total.cache_write)} written to it`,
      ),
      card(
        "Tokens out",
        formatCount(total.output),
        than(total.output, before.output, formatCount(before.output)),
      ),
      card(
        "From cache",
        shareOf(total.cache_read, input),
        `before: ${shareOf(before.cache_read, inputBefore)}`,
        ...savedBy(total),
      ),
      card("Certainty of the cost", certaintyOf(total), ...coverageOf(total)),
    ),
    element("p", { class: "remark" }, `Before: ${title}.`),
  );
}

/** The rows are full, whichever cards there are: the first card is two wide, if it is not one of six. */
function layoutOf(hasCost: boolean, hasWorth: boolean): string {
  if (hasCost) return hasWorth ? "glance with-worth" : "glance";
  return hasWorth ? "glance" : "glance without-cost";
}

function worthBefore(total: Sums, before: Sums): string {
  return than(Number(total.plan_worth_usd), Number(before.plan_worth_usd), worthOf(before) || "nothing");
}

/** How many requests did not complete, and their share of all. Failed requests are counted apart from the others. */
function lostOf({ requests, failed, cut }: Sums): string {
  const share = formatShare(failed + cut, requests + failed);
  return `${formatCount(failed + cut)}${share === "" ? "" : ` (${share})`}`;
}

/** How they ended instead, each with a link to those requests. */
function waysToEnd(total: Sums, state: State): (HTMLElement | string)[] {
  const linked = (count: number, words: string, outcome: State["outcome"]) => {
    const text = `${formatCount(count)} ${words}`;
    const href = formatState({ ...state, view: "requests", outcome, sort: undefined });
    return count === 0 ? text : element("a", { class: "more", href }, text);
  };
  return [
    linked(failedOf(total), "failed", "failed"),
    ", ",
    linked(total.cut, "cut short", "cut"),
    ", ",
    linked(total.refused, "refused by tollkeeper", "refused"),
  ];
}

function than(now: number, then: number, text: string, title = "before"): string {
  const change = formatChange(now, then);
  return `${title}: ${text}${change === "" ? "" : ` (${change})`}`;
}

function shareOf(part: number, whole: number): string {
  return formatShare(part, whole) || "–";
}

/** Writing to a cache costs more than it saves until it is read. Without a price nothing is known of it. */
function savedBy({ cache_saved_usd: saved }: Sums): string[] {
  if (saved === null) return [];
  const dollars = Number(saved);
  return [
    dollars < 0
      ? `the cache cost ${formatDollars(-dollars)} more than it saved`
      : `the cache saved ${formatDollars(dollars)}`,
  ];
}

/** Names that other programs choose are shortened. */
const MOST_CHARACTERS = 40;
/** How many models without a price are named. */
const MOST_NAMED = 2;

function coverageOf({ requests, partial, absent, unpriced }: Sums): string[] {
  const models = [...new Set(unpriced.map(({ model }) => model ?? "an unknown model"))];
  const names = models.slice(0, MOST_NAMED).map((name) => name.slice(0, MOST_CHARACTERS));
  const more = models.length > MOST_NAMED ? ` and ${formatCount(models.length - MOST_NAMED)} more` : "";
  const counted = requests - partial - absent;
  return [
    counted === requests
      ? "all token counts are exact"
      : `token counts are exact for ${formatCount(counted)} of ${formatCount(requests)} requests`,
    ...(partial + absent > 0 ? [`${formatCount(partial)} partial, ${formatCount(absent)} uncounted`] : []),
    ...(models.length > 0 ? [`not fully priced: ${names.join(", ")}${more}`] : []),
  ];
}
