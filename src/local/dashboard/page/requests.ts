import { choice, element, replaceContents } from "./elements.ts";
import type { Row, Sums, UsageReport } from "./feed-types.ts";
import { readFeed, readRecords } from "./feeds.ts";
import { nothingMatches, nothingYet } from "./frame/empty.ts";
import { toneOf } from "./live/live-rows.ts";
import { formatCount } from "./numbers.ts";
import { filterControls, periodControls, searchBox } from "./period.ts";
import { isFound } from "./requests/found-request.ts";
import { Narrowing } from "./requests/narrowing.ts";
import { requestColumns } from "./requests/request-columns.ts";
import { speedByModel } from "./requests/speed-by-model.ts";
import { OUTCOMES, questionOf, type Change, type State } from "./state.ts";
import { sortableTable } from "./table.ts";
import { dayOf, TIME_ZONE } from "./times.ts";
import { allOf, costOf, describeEndings } from "./usage-sums.ts";

/** More would take the browser longer than a person waits. */
const MOST_REQUESTS = 1_000;
/** How the table is sorted where the dearest come first. */
const DEAREST = "cost";

/**
 * Shows the requests of a period: each opens, and what a cell names narrows the view. Where there are too many, they are the last ones, or
 * the dearest, if those are to come first.
 */
export async function renderRequests(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  let { sort = "time" } = state;
  const { outcome, filter } = state;
  const isByCost = sort === DEAREST;
  const question = {
    timezone: TIME_ZONE,
    ...questionOf(state),
    lines: String(MOST_REQUESTS),
    ...(outcome !== "all" && { outcome }),
    ...(isByCost && { dearest: "true" }),
  };
  const ask = (asked: Record<string, string>) =>
    readFeed<UsageReport>("usage", { timezone: TIME_ZONE, ...asked }, signal);
  const read = (asked: State, by: string) => ask({ ...questionOf(asked), by });
  const isNarrowed = Object.keys(filter).length > 0;
  const whole = { ...state, filter: {} };
  const isPlain = outcome === "all" && !isNarrowed;
  // The lists have what else there is to choose.
  const [records, models, projects, narrowed] = await Promise.all([
    readRecords(question, signal),
    read(whole, "tool,model"),
    read(whole, "project"),
    isNarrowed ? read(state, "tool") : null,
  ]);
  if (signal.aborted) return;
  const isUnused = isPlain && records.length === 0 && (await isLedgerEmpty(ask));
  if (signal.aborted) return;
  narrowing.show([models, projects].flatMap(rowsOf), state, change);
  const { rows, total, sandbox } = narrowed ?? models;
  const sums = rows.length === 0 ? sandbox.total : total;
  const onSort = (chosen: string) => {
    sort = chosen;
    const needsOthers = records.length >= MOST_REQUESTS && (chosen === DEAREST) !== isByCost;
    // With the filter, which stays, the requests are read again.
    change(needsOthers ? { sort, filter } : { sort });
  };
  const parts = element("div");
  showFound = () => {
    const shown = records.filter((record) => isFound(record, search));
    parts.replaceChildren(
      ...(shown.length === 0
        ? [
            records.length === 0 && isPlain
              ? nothingYet(isUnused ? "No requests yet" : "No request in this period", isUnused)
              : nothingMatches(() => change({ filter: {}, outcome: "all", search: "" })),
          ]
        : [
            element("p", { class: "remark" }, describeAll(sums)),
            ...speedByModel(shown),
            sortableTable(titleOf(outcome, records.length, isByCost), requestColumns(state, change), shown, {
              class: "two-lines requests",
              sort,
              onSort,
              // Today alone needs no heading.
              days:
                state.since === "today"
                  ? undefined
                  : { head: "time", dayOf: ({ ts }) => dayOf(new Date(ts)) },
              toneOf,
            }),
          ]),
    );
  };
  showFound();
  replaceContents(parent, parts);
}

/** Whether there was no request in any period that can be chosen. */
async function isLedgerEmpty(
  ask: (question: Record<string, string>) => Promise<UsageReport>,
): Promise<boolean> {
  return rowsOf(await ask({ since: "365d", by: "tool" })).length === 0;
}

/** What the ledger has, or else the sandbox. */
function rowsOf({ rows, sandbox }: UsageReport): readonly Row[] {
  return rows.length === 0 ? sandbox.rows : rows;
}

/** What a reader looks for, also while the figures are read. */
let search = "";
let showFound = () => {};
const narrowing = new Narrowing();

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
    narrowing.element,
    searchBox("Search", search, onSearch),
    ...filterControls(state, change),
  ];
}

/** Says what the whole period has, which may be more than is listed: `In this period: 27 requests (22 completed, 5 failed), $2.08`. */
function describeAll(total: Sums): string {
  const count = allOf(total);
  return `In this period: ${formatCount(count)} ${count === 1 ? "request" : "requests"} (${describeEndings(total)}), ${costOf(total)}`;
}

function titleOf(outcome: State["outcome"], read: number, isByCost: boolean): string {
  const what = outcome === "all" ? "Requests" : `Requests: ${outcome}`;
  if (read < MOST_REQUESTS) return what;
  return `${what}, the ${isByCost ? "dearest" : "last"} ${formatCount(MOST_REQUESTS)} of this period`;
}
