import { choice, element, replaceContents, withCopiedCommand } from "./elements.ts";
import type { Row, Status, Sums, UsageReport } from "./feed-types.ts";
import { readFeed } from "./feeds.ts";
import { nothingMatches, nothingYet } from "./frame/empty.ts";
import { formatCount, formatDollars } from "./numbers.ts";
import { besideBeforeTable, findingOf } from "./overview/compare.ts";
import { firstDayOf, forecastOf } from "./overview/forecast.ts";
import { glance } from "./overview/glance.ts";
import { groupNames, type GroupName } from "./overview/group-name.ts";
import { overTime, valueOf } from "./overview/over-time.ts";
import { outOfLine } from "./overview/out-of-line.ts";
import { periodHeading } from "./overview/period-heading.ts";
import { isRecordedInPart, recordedSince } from "./overview/recorded-since.ts";
import { lastingColours } from "./overview/series-colours.ts";
import { standing } from "./overview/standing.ts";
import { addGroups } from "./overview/groups.ts";
import { chosenTwo, twoSideBySide } from "./overview/two.ts";
import { whyAtLeast } from "./overview/why-at-least.ts";
import { filterControls, periodControls } from "./period.ts";
import { meetProjects, projectsIn } from "./project-names.ts";
import { COMPARISONS, GROUPINGS, questionOf, type Change, type State } from "./state.ts";
import { sumColumns } from "./sum-columns.ts";
import { sortableTable, type TableColumn } from "./table.ts";
import { dayOf, describeBefore, spanBefore, spanOf, TIME_ZONE } from "./times.ts";
import { failedOf, nameIn } from "./usage-sums.ts";

/** What the chart tells apart; the rest is one group. */
const MOST_SERIES = 7;

const SANDBOX =
  "These requests went to the built-in sandbox: responses and tokens are made up, and nothing was spent.";

/**
 * Shows what was used and what it cost.
 * @param above - what does not depend on the period goes there, above the controls
 */
export async function renderOverview(
  { above, contents }: { above: HTMLElement; contents: HTMLElement },
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const span = spanOf(state);
  const read = (question: Record<string, string>) =>
    readFeed<UsageReport>("usage", { timezone: TIME_ZONE, ...question }, signal);
  const question = questionOf(state);
  const now = new Date();
  // Which groups are used much whatever the period; there are too many sessions to ask for each day of them.
  const ofDays = state.by === "session" ? "day" : `day,${state.by}`;
  const [grouped, timed, before, days, since, byNow, status] = await Promise.all([
    read({ ...question, by: state.by }),
    read({ ...question, by: `${span.step},${state.by}` }),
    read({ ...question, by: `${span.step},${state.by}`, ...spanBefore(span) }),
    read({ ...state.filter, by: ofDays, since: dayOf(firstDayOf(now)) }),
    recordedSince(signal),
    // Today's view has it already.
    state.since === "today" ? null : read({ ...state.filter, by: "tool", ...spanBefore(spanOf(TODAY, now)) }),
    // Budgets and limits are for all requests, so there is none to show beside a filter.
    Object.keys(state.filter).length > 0 ? null : readFeed<Status>("status", {}, signal),
  ]);
  if (signal.aborted) return;
  const isSandbox = grouped.rows.length === 0 && grouped.sandbox.rows.length > 0;
  const { rows, total } = isSandbox ? grouped.sandbox : grouped;
  // Before any of them is named.
  if (state.by === "project") meetProjects(projectsIn([...rows, ...before.rows]));
  // If nothing has a cost, the chart shows tokens.
  const shown = isSandbox ? ({ ...state, unit: "tokens" } as const) : state;
  if (unitChoice !== null) unitChoice.value = shown.unit;
  const two = state.compare === "two" ? chosenTwo(rows, state) : null;
  const order = two === null ? groupsOf(rows, shown) : two.map((row) => nameIn(row, state.by));
  const lasting = groupsOf(addGroups(days.rows, state.by), shown).slice(0, MOST_SERIES);
  const look = { order, colours: lastingColours(order, state.by === "session" ? [] : lasting) };
  const past = isSandbox ? before.sandbox : before;
  const title = describeBefore(span);
  const isInPart = isRecordedInPart(new Date(spanBefore(span).since), since);
  const earlier = { total: past.total, title, recordedSince: isInPart ? since : null };
  // Then it stands above every view.
  const isSandboxNow = status?.upstreams.some((upstream) => upstream.is_sandbox) === true;
  const isEmpty = rows.length === 0 && past.total.requests + past.total.failed === 0;
  const hasNoneBefore = isSandbox && past.total.requests + past.total.failed === 0;
  const hasCards = days.rows.length > 0;
  // It is about all requests, as budgets are.
  const unusual = status === null || isSandbox || !hasCards ? null : outOfLine(signal);
  const beside = {
    yesterdayByNow: (byNow ?? before).total,
    recordedSince: since,
    status,
    unusual: unusual?.remark ?? null,
  };
  replaceContents(
    above,
    ...(isSandbox && !isSandboxNow ? [element("p", { class: "sandbox" }, SANDBOX)] : []),
    ...(hasCards ? [standing(forecastOf(days.rows, now), beside, now)] : []),
    ...(unusual === null ? [] : [unusual.panel]),
  );
  const comparison =
    state.compare === "before" && rows.length > 0
      ? {
          by: state.by,
          rows,
          before: addGroups(past.rows, state.by),
          total,
          totalBefore: past.total,
          title,
          recordedSince: earlier.recordedSince,
        }
      : null;
  const timedRows = isSandbox ? timed.sandbox.rows : timed.rows;
  const isSideBySide = two !== null;
  const course = { span, rows: timedRows, groups: rows, before: isSandbox || isSideBySide ? null : before };
  const chart = () => overTime({ ...course, ...look, isSideBySide }, shown, change);
  const names = groupNames(state, look.colours, change);
  replaceContents(
    contents,
    // Two have all of it in their table.
    ...(isEmpty || two !== null
      ? []
      : periodHeading(
          state,
          total,
          earlier,
          hasCards ? saidByCards(state, now) : NOTHING_SAID,
          comparison !== null ? findingOf(comparison) : hasNoneBefore ? "" : undefined,
          ...(isSandbox ? [`${NOTHING_SPENT} (sandbox)`] : []),
        )),
    // What the reader has asked for comes first.
    ...(comparison === null ? [] : [besideBeforeTable(comparison, names)]),
    ...(two === null
      ? []
      : [element("div", { class: "two" }, twoSideBySide(two, rows, state, look.colours, change), chart())]),
    ...(rows.length === 0 || two !== null ? [] : [chart(), ...whyAtLeast(total)]),
    ...(isEmpty || two !== null ? [] : [glance(total, hasNoneBefore ? null : earlier, state, isSandbox)]),
    ...(rows.length === 0 ? [emptyState(state, days.rows.length === 0, change)] : []),
    ...(rows.length === 0 || comparison !== null
      ? []
      : [table({ rows, total, isSandbox }, names, shown, change)]),
    ...remarks(grouped),
  );
}

const NOTHING_SPENT = formatDollars(0);
const TODAY = { since: "today" };
const MONTH = { since: "month" };
const NOTHING_SAID = { cost: false, before: false };

/** What the cards say of a period: the cost of today and of this month, each beside the same part of the one before. */
function saidByCards({ since }: State, now: Date): typeof NOTHING_SAID {
  const isCard = since === "today" || since === "month";
  // Once a month, 30 days are this month.
  const isMonth = since === "30d" && dayOf(spanOf({ since }, now).from) === dayOf(spanOf(MONTH, now).from);
  return { cost: isCard || isMonth, before: isCard || isMonth };
}

/** Says what the chart shows, also where the reader has not chosen it. */
let unitChoice: HTMLSelectElement | null = null;

/** Such as `two models`. The sums of a period are compared with those before in any case. */
function nameComparison(compare: State["compare"], by: State["by"]): string {
  if (compare === "none") return "totals";
  return compare === "before" ? `each ${by}` : `two ${by}${by === "branch" ? "es" : "s"}`;
}

/** Controls for the period, the grouping, what the chart shows, what is compared, and the filters. */
export function overviewControls(state: State, change: Change): HTMLElement[] {
  const groupings = GROUPINGS.map((by) => [by, by] as const);
  const units = (["cost", "tokens"] as const).map((unit) => [unit, unit] as const);
  const chart = choice("Chart", units, state.unit, (unit) => change({ unit }));
  unitChoice = chart.querySelector("select");
  const comparisons = COMPARISONS.map((compare) => [compare, nameComparison(compare, state.by)] as const);
  return [
    ...periodControls(state, change),
    choice("By", groupings, state.by, (by) => change({ by, one: "", other: "" })),
    chart,
    choice("Compare", comparisons, state.compare, (compare) => change({ compare })),
    ...filterControls(state, change),
  ];
}

/** The names of the largest groups, the largest first. A single one that is left has its own name, too. */
function groupsOf(rows: readonly Row[], { by, unit }: State): string[] {
  const most = rows.length === MOST_SERIES + 1 ? rows.length : MOST_SERIES;
  return rows
    .toSorted((one, other) => valueOf(other, unit) - valueOf(one, unit))
    .slice(0, most)
    .map((row) => nameIn(row, by));
}

/** In the sandbox, which costs nothing, columns are left out that would be empty. */
function table(
  { rows, total, isSandbox }: { rows: readonly Row[]; total: Sums; isSandbox: boolean },
  nameOf: GroupName,
  { by, sort }: State,
  change: Change,
): HTMLElement {
  const names: TableColumn<Row> = {
    head: by,
    value: (row) => nameIn(row, by),
    contents: (row) => nameOf(nameIn(row, by)),
  };
  const isNeeded: Readonly<Record<string, boolean>> = {
    failed: !isSandbox || failedOf(total) > 0,
    certainty: !isSandbox,
  };
  const columns = sumColumns(rows)
    .filter(({ head }) => isNeeded[head] ?? true)
    .map((column) =>
      isSandbox && column.head === "cost" ? { ...column, text: () => NOTHING_SPENT } : column,
    );
  return sortableTable(`Usage by ${by}`, [names, ...columns], rows, {
    class: "two-lines sums",
    sort,
    onSort: (chosen) => change({ sort: chosen }),
    total: { ...total, [by]: "total" },
  });
}

function emptyState({ since, filter }: State, isUnused: boolean, change: Change): HTMLElement {
  if (Object.keys(filter).length > 0) return nothingMatches(() => change({ filter: {} }));
  const look = () => change({ since: "30d", until: undefined });
  const isShort = !isUnused && since !== "30d";
  return nothingYet(
    isUnused ? "No requests yet" : since === "today" ? "No request today" : "No request in this period",
    isUnused,
    ...(isShort ? [element("button", { onclick: look }, "Show the last 30 days")] : []),
  );
}

function remarks({ unreadable_lines: unreadable, prices, time_zone: zone }: UsageReport): HTMLElement[] {
  const sentences = [
    unreadable > 0
      ? `${formatCount(unreadable)} lines of the ledger cannot be read. To see why, type: tollkeeper ledger verify`
      : "",
    `Prices as of ${prices.as_of}; days in ${zone}.`,
  ];
  return sentences
    .filter((sentence) => sentence !== "")
    .map((sentence) => element("p", { class: "remark" }, ...withCopiedCommand(sentence)));
}
