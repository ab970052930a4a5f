export const VIEWS = ["overview", "sessions", "live", "health"] as const;
export type View = (typeof VIEWS)[number];

export const PERIODS = [
  ["today", "today"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["365d", "a year"],
] as const;

export const GROUPINGS = ["tool", "model", "project", "branch", "upstream", "key", "session"] as const;

/** What reports can be limited to. */
const FILTERS = ["tool", "model", "project", "session", "upstream"] as const;
type Filter = (typeof FILTERS)[number];

/** What the page shows. All of it is in the URL, so that it can be kept, and the browser's back works. */
export interface State {
  view: View;
  since: string;
  by: (typeof GROUPINGS)[number];
  unit: "cost" | "tokens";
  filter: Readonly<Partial<Record<Filter, string>>>;
}

const START: State = { view: "overview", since: "7d", by: "tool", unit: "cost", filter: {} };

/** Reads the state from a URL's fragment, such as `#/overview?since=30d&by=model`. What is not known is as at the start. */
export function parseState(hash: string): State {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const given = new URLSearchParams(query);
  const filter = FILTERS.flatMap((name) => {
    const value = given.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    view: VIEWS.find((view) => view === path) ?? START.view,
    since: PERIODS.find(([since]) => since === given.get("since"))?.[0] ?? START.since,
    by: GROUPINGS.find((by) => by === given.get("by")) ?? START.by,
    unit: given.get("unit") === "tokens" ? "tokens" : "cost",
    filter: Object.fromEntries(filter),
  };
}

/** Inverts {@link parseState}. */
export function formatState({ view, since, by, unit, filter }: State): string {
  return `#/${view}?${new URLSearchParams({ since, by, unit, ...filter }).toString()}`;
}

/** Returns whether a filter can take a name of this grouping. */
export function isFilter(by: string): by is Filter {
  return (FILTERS as readonly string[]).includes(by);
}
