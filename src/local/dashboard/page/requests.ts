import { choice, element, replaceContents } from "./elements.ts";
import type { PricedRecord } from "./feed-types.ts";
import { readRecords } from "./feeds.ts";
import { toneOf } from "./live/live-rows.ts";
import { formatCount } from "./numbers.ts";
import { filterControls, periodControls, searchBox } from "./period.ts";
import { isFound } from "./requests/found-request.ts";
import { requestColumns } from "./requests/request-columns.ts";
import { speedByModel } from "./requests/speed-by-model.ts";
import { OUTCOMES, questionOf, type Change, type State } from "./state.ts";
import { sortableTable } from "./table.ts";
import { dayOf, TIME_ZONE } from "./times.ts";

/** More would take the browser longer than a person waits. */
const MOST_REQUESTS = 1_000;

/** Shows the requests of a period: each opens, and what a cell names narrows the view. */
export async function renderRequests(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const question = { timezone: TIME_ZONE, ...questionOf(state), lines: String(MOST_REQUESTS) };
  const records = await readRecords(question, signal);
  if (signal.aborted) return;
  const meant = records.filter((record) => isMeant(record, state.outcome));
  let { sort = "time" } = state;
  const onSort = (chosen: string) => {
    sort = chosen;
    change({ sort });
  };
  const parts = element("div");
  showFound = () => {
    const shown = meant.filter((record) => isFound(record, search));
    parts.replaceChildren(
      ...(shown.length === 0
        ? [element("p", { class: "empty" }, "No request in this period matches.")]
        : [
            ...speedByModel(shown),
            sortableTable(titleOf(state.outcome, records.length), requestColumns(state, change), shown, {
              class: "two-lines",
              sort,
              onSort,
              days: { head: "time", dayOf: ({ ts }) => dayOf(new Date(ts)) },
              toneOf,
            }),
          ]),
    );
  };
  showFound();
  replaceContents(parent, parts);
}

/** What a reader looks for, also while the figures are read. */
let search = "";
let showFound = () => {};

/** Controls for the period, how requests ended, and the filters. */
export function requestsControls(state: State, change: Change): HTMLElement[] {
  search = state.search;
  const onSearch = (words: string) => {
    search = words;
    change({ search });
    showFound();
  };
  const outcomes = OUTCOMES.map((outcome) => [outcome, outcome] as const);
  return [
    ...periodControls(state, change),
    choice("Outcome", outcomes, state.outcome, (outcome) => change({ outcome })),
    searchBox("Search", search, onSearch),
    ...filterControls(state, change),
  ];
}

function isMeant({ outcome }: PricedRecord, wanted: State["outcome"]): boolean {
  if (wanted === "all") return true;
  if (wanted === "refused") return outcome === "rejected";
  return wanted === "cut" ? outcome === "cut" : outcome === "error" || outcome === "failed";
}

function titleOf(outcome: State["outcome"], read: number): string {
  const what = outcome === "all" ? "Requests" : `Requests: ${outcome}`;
  return read < MOST_REQUESTS ? what : `${what}, among the last ${formatCount(MOST_REQUESTS)} of this period`;
}
