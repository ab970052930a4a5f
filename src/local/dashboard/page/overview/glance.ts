import { card, element } from "../elements.ts";
import type { Sums } from "../feed-types.ts";
import {
  formatChange,
  formatCompact,
  formatCount,
  formatDollars,
  formatLarge,
  formatShare,
  LARGE,
} from "../numbers.ts";
import { formatState, type State } from "../state.ts";
import type { Before } from "./period-heading.ts";
import { allOf, completedOf, describeEndings, endingsOf, inputOf } from "../usage-sums.ts";

/**
 * Shows the requests and tokens of sums beside those of the span before.
 * @param before - null where there is nothing to compare with
 * @param state - what the page shows, for links to the requests behind a figure
 * @param isSandbox - whether nothing could be spent, and so nothing saved
 */
export function glance(total: Sums, before: Before | null, state: State, isSandbox: boolean): HTMLElement {
  const input = inputOf(total);
  // A few requests of the sandbox need no cards.
  if (isSandbox && allOf(total) < FEW) return briefly(total);
  // Four times nothing says no more than once.
  const wasUnused = before !== null && allOf(before.total) === 0;
  const than = (countOf: (sums: Sums) => number) => {
    if (before === null || wasUnused) return [];
    const [now, then] = [countOf(total), countOf(before.total)];
    const change = before.recordedSince === null ? formatChange(now, then) : "";
    return [`before: ${formatLarge(then)}${change === "" ? "" : ` (${change})`}`];
  };
  const was = (textOf: (sums: Sums) => string) =>
    before === null || wasUnused ? [] : [`before: ${textOf(before.total)}`];
  return element(
    "section",
    { class: "glance", ariaLabel: "at a glance" },
    card(
      "Requests",
      formatLarge(allOf(total)),
      linkedEndings(total, state),
      ...(wasUnused ? ["before: none"] : than(allOf).map((text) => `${text}${completedBefore(before)}`)),
    ),
    card("Tokens in", formatLarge(input), ...than(inputOf), classesIn(total)),
    card("Tokens out", formatLarge(total.output), ...than(({ output }) => output)),
    card("From cache", cachedShareOf(total), ...was(cachedShareOf), ...(isSandbox ? [] : savedBy(total))),
  );
}

/** Fewer requests than that are said in a line. */
const FEW = 10;

function briefly(total: Sums): HTMLElement {
  const count = allOf(total);
  const tokens = `${formatCount(inputOf(total))} tokens in, ${formatCount(total.output)} out`;
  return element(
    "p",
    { class: "glance-line" },
    `${formatCount(count)} ${count === 1 ? "request" : "requests"}, ${tokens}`,
  );
}

/** How requests ended, each with a link to those that did not complete. */
function linkedEndings(total: Sums, state: State): (HTMLElement | string)[] {
  const endings = endingsOf(total);
  if (endings.every(({ outcome }) => outcome === undefined)) return [describeEndings(total)];
  return endings.flatMap(({ count, word, outcome }, at) => {
    const text = `${formatCount(count)} ${word}`;
    const href = formatState({ ...state, view: "requests", outcome: outcome ?? "all", sort: undefined });
    const shown = outcome === undefined ? text : element("a", { class: "more", href }, text);
    return at === 0 ? [shown] : [", ", shown];
  });
}

/** Empty where all completed. */
function completedBefore(before: Before | null): string {
  if (before === null) return "";
  const completed = completedOf(before.total);
  return completed === allOf(before.total) ? "" : `, ${formatLarge(completed)} completed`;
}

/** What the input is made of, in one scale; nothing where no cache had a part in it. */
function classesIn(sums: Sums): string {
  const { input_uncached: uncached, cache_read: read, cache_write: write } = sums;
  if (read + write === 0) return "";
  const format = inputOf(sums) < LARGE ? formatCount : formatCompact;
  return [
    ...(uncached === 0 ? [] : [`${format(uncached)} uncached`]),
    ...(read === 0 ? [] : [`${format(read)} from cache`]),
    ...(write === 0 ? [] : [`${format(write)} to cache`]),
  ].join(", ");
}

function cachedShareOf(sums: Sums): string {
  return formatShare(sums.cache_read, inputOf(sums)) || "–";
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
