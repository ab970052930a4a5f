import { choice, element, replaceContents } from "./elements.ts";
import type { PricedRecord, Row, Sums, UsageReport } from "./feed-types.ts";
import { readFeed, readRecords } from "./feeds.ts";
import { nothingMatches, nothingYet } from "./frame/empty.ts";
import { toneOf } from "./live/live-rows.ts";
import { formatCount } from "./numbers.ts";
import { filterControls, periodControls, searchBox } from "./period.ts";
import { isFound } from "./requests/found-request.ts";
import { Narrowing } from "./requests/narrowing.ts";
import { describeDay } from "./requests/day-words.ts";
import { Questions, type Counts } from "./requests/questions.ts";
import { columnsWithValues, DEAREST, requestColumns } from "./requests/request-columns.ts";
import { speedByModel } from "./requests/speed-by-model.ts";
import { OUTCOMES, questionOf, type Change, type State } from "./state.ts";
import { sortableTable } from "./table.ts";
import { dayOf, TIME_ZONE } from "./times.ts";
import { allOf, costOf, describeEndings, failedOf } from "./usage-sums.ts";

/** More would take the browser longer than a person waits. */
const MOST_REQUESTS = 1_000;

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
  const whole = { ...state, filter: {} };
  const isPlain = outcome === "all" && Object.keys(filter).length === 0;
  // The lists have what else there is to choose.
  const [records, models, projects, figures] = await Promise.all([
    readRecords(question, signal),
    read(whole, "tool,model"),
    read(whole, "project"),
    read(state, "miss"),
  ]);
  if (signal.aborted) return;
  const isUnused = isPlain && records.length === 0 && (await isLedgerEmpty(ask));
  if (signal.aborted) return;
  narrowing.show([models, projects].flatMap(rowsOf), state, change);
  const sums = figures.rows.length === 0 ? figures.sandbox.total : figures.total;
  const counts = countsOf(sums, rowsOf(figures));
  questions.count(counts);
  // Those that are not listed count, too.
  const matching = records.length < MOST_REQUESTS ? records.length : Math.max(counts[outcome], MOST_REQUESTS);
  const onSort = (chosen: string) => {
    sort = chosen;
    questions.follow({ sort });
    const needsOthers = records.length >= MOST_REQUESTS && (chosen === DEAREST) !== isByCost;
    // With the filter, which stays, the requests are read again.
    change(needsOthers ? { sort, filter } : { sort });
  };
  // Of the first day of the last requests, some are not listed; of the dearest ones, those of any day.
  const partOf = records.length < MOST_REQUESTS ? null : records.map(dayIn).toSorted()[0];
  const isWhole = (rows: readonly PricedRecord[]) =>
    partOf === null || (!isByCost && rows.every((row) => dayIn(row) !== partOf));
  const parts = element("div");
  showFound = () => {
    const shown = records.filter((record) => isFound(record, search));
    const isSearched = shown.length < records.length;
    const howMany = element("strong");
    const onShown = (most: number) => {
      mostShown = most;
      const [some, of] = [Math.min(most, shown.length), isSearched ? shown.length : matching];
      howMany.textContent = `${formatCount(some)} of ${formatCount(of)} ${isSearched ? "matches " : ""}shown`;
    };
    parts.replaceChildren(
      ...(shown.length === 0
        ? [
            records.length === 0 && isPlain
              ? nothingYet(isUnused ? "No requests yet" : "No request in this period", isUnused)
              : nothingMatches(() => change({ filter: {}, outcome: "all", search: "" })),
          ]
        : [
            element(
              "div",
              { class: "shown" },
              howMany,
              element("p", { class: "remark" }, describeAll(sums)),
              ...speedByModel(shown),
            ),
            sortableTable<PricedRecord>(
              titleOf(outcome, records.length, isByCost),
              columnsWithValues(requestColumns(state, change), shown),
              shown,
              {
                class: "two-lines requests",
                sort,
                onSort,
                most: mostShown,
                onShown,
                // Today alone needs no heading.
                days:
                  state.since === "today"
                    ? undefined
                    : { head: "time", dayOf: dayIn, sum: (rows) => (isWhole(rows) ? describeDay(rows) : "") },
                toneOf,
              },
            ),
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

function dayIn({ ts }: PricedRecord): string {
  return dayOf(new Date(ts));
}

/** What the ledger has, or else the sandbox. */
function rowsOf({ rows, sandbox }: UsageReport): readonly Row[] {
  return rows.length === 0 ? sandbox.rows : rows;
}

/** What a reader looks for, also while the figures are read. */
let search = "";
let showFound = () => {};
/** How many rows a reader has asked for; undefined at first. */
let mostShown: number | undefined;
const narrowing = new Narrowing();
const questions = new Questions();
/** Outcomes whose name alone would not be understood. */
const WORDS: Partial<Record<State["outcome"], string>> = { problem: "problems", missed: "cache misses" };

/** Controls for the period, how requests ended, and the filters. */
export function requestsControls(state: State, change: Change): HTMLElement[] {
  search = state.search;
  mostShown = undefined;
  questions.show(state);
  const onSearch = (words: string) => {
    search = words;
    change({ search });
    questions.follow({ search });
    showFound();
  };
  const outcomes = OUTCOMES.map((outcome) => [outcome, WORDS[outcome] ?? outcome] as const);
  return [
    ...periodControls(state, change),
    choice("Outcome", outcomes, state.outcome, (outcome) => change({ outcome })),
    narrowing.element,
    searchBox("Search", search, onSearch),
    ...filterControls(state, change),
    questions.element,
  ];
}

/** How many requests of a period there are of each kind. `rows` are by why they missed the cache. */
function countsOf(total: Sums, rows: readonly Row[]): Required<Counts> {
  const { cut, refused } = total;
  const failed = failedOf(total);
  const missed = rows.reduce((sum, row) => sum + (typeof row["miss"] === "string" ? allOf(row) : 0), 0);
  return { all: allOf(total), failed, cut, refused, problem: failed + cut + refused, missed };
}

/** Says what the whole period has, which may be more than is listed: `In this period: 27 requests (22 completed, 5 failed), $2.08`. */
function describeAll(total: Sums): string {
  const count = allOf(total);
  return `In this period: ${formatCount(count)} ${count === 1 ? "request" : "requests"} (${describeEndings(total)}), ${costOf(total)}`;
}

function titleOf(outcome: State["outcome"], read: number, isByCost: boolean): string {
  const what = outcome === "all" ? "Requests" : `Requests: ${WORDS[outcome] ?? outcome}`;
  if (read < MOST_REQUESTS) return what;
  return `${what}, the ${isByCost ? "dearest" : "last"} ${formatCount(MOST_REQUESTS)} of this period`;
}
