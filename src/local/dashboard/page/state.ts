import { RECORD_FILTERS, type RecordFilter } from "../../../core/ledger/record-filter.ts";
import { daysOf, isDay, isMoment, type SpanQuery } from "./times.ts";

export const VIEWS = ["overview", "requests", "sessions", "live", "health"] as const;
export type View = (typeof VIEWS)[number];

export const PERIODS = [
  ["today", "today"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["month", "this month"],
  ["last-month", "last month"],
  ["90d", "90 days"],
  ["365d", "a year"],
] as const;

export const GROUPINGS = [
  "tool",
  "model",
  "project",
  "branch",
  "upstream",
  "key",
  "account",
  "session",
] as const;

/** Which requests people look for: how they ended, in which way they did not complete, or that they missed the cache. */
export const OUTCOMES = ["all", "failed", "cut", "refused", "problem", "missed"] as const;

/** What the overview's table may be replaced with: each row beside the period before, or two of the rows. */
export const COMPARISONS = ["none", "before", "two"] as const;

/** What the page shows. All of it is in the URL, so that it can be kept, and the browser's back works. */
export interface State extends SpanQuery {
  view: View;
  by: (typeof GROUPINGS)[number];
  unit: "cost" | "tokens";
  compare: (typeof COMPARISONS)[number];
  /** The two that are compared; those that cost most if there are none of these names. */
  one: string;
  other: string;
  /** Which requests the view of requests shows. */
  outcome: (typeof OUTCOMES)[number];
  /** How the table is sorted, where a reader has chosen it; as {@link sortableTable} writes it. */
  sort?: string | undefined;
  /** Words that the shown sessions have. */
  search: string;
  filter: Readonly<Record<string, string>>;
}

/** Changes the state, and so the URL. */
export type Change = (changes: Partial<State>) => void;

const START = { view: "overview", since: "today", by: "tool" } as const;

/** Reads the state from a URL's fragment, such as `#/overview?since=30d&by=model`. What is not known is as at the start. */
export function parseState(hash: string): State {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const given = new URLSearchParams(query);
  const filter = RECORD_FILTERS.flatMap((name) => {
    const value = given.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    view: VIEWS.find((view) => view === path) ?? START.view,
    ...parseSpan(given.get("since") ?? START.since, given.get("until")),
    by: GROUPINGS.find((by) => by === given.get("by")) ?? START.by,
    unit: given.get("unit") === "tokens" ? "tokens" : "cost",
    compare: COMPARISONS.find((compare) => compare === given.get("compare")) ?? "none",
    one: given.get("one") ?? "",
    other: given.get("other") ?? "",
    outcome: OUTCOMES.find((outcome) => outcome === given.get("outcome")) ?? "all",
    sort: given.get("sort") ?? undefined,
    search: given.get("search") ?? "",
    filter: Object.fromEntries(filter),
  };
}

function parseSpan(since: string, until: string | null): SpanQuery {
  if (PERIODS.some(([period]) => period === since)) return { since };
  if (!isTime(since)) return { since: START.since };
  return until === null || !isTime(until) || Date.parse(until) < Date.parse(since)
    ? { since }
    : { since, until };
}

function isTime(text: string): boolean {
  return isDay(text) || isMoment(text);
}

/** Inverts {@link parseState}. */
export function formatState(state: State): string {
  const { view, since, until, by, unit, compare, one, other, outcome, sort, search, filter } = state;
  const chosen = {
    ...(until !== undefined && { until }),
    by,
    unit,
    ...(compare !== "none" && { compare }),
    ...(one !== "" && { one }),
    ...(other !== "" && { other }),
    ...(outcome !== "all" && { outcome }),
    ...(sort !== undefined && { sort }),
    ...(search !== "" && { search }),
  };
  return `#/${view}?${new URLSearchParams({ since, ...chosen, ...filter }).toString()}`;
}

/** Returns the part of the state that reports take. */
export function questionOf({ filter, ...span }: State): Record<string, string> {
  const { since, until } = daysOf(span);
  return { since, ...(until !== undefined && { until }), ...filter };
}

/** Returns whether a filter can take a name of this grouping. */
export function isFilter(by: string): by is keyof RecordFilter {
  return (RECORD_FILTERS as readonly string[]).includes(by);
}
