import type { Calendar } from "../../../core/ledger/calendar.ts";
import { countIdleHours, type Grouping } from "../../../core/ledger/grouping.ts";
import type { Period } from "../../../core/ledger/period.ts";
import type { RecordFilter } from "../../../core/ledger/record-filter.ts";
import type { ReportRow, Sums, UsageReport } from "../../../core/ledger/report.ts";
import { sumOfRows } from "../../../core/ledger/report/summed-row.ts";
import { formatDollars } from "../../../core/price/money.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { formatCost, formatShare } from "../../prices/format-cost.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import type { SkippedLines } from "../../ledger/records-of-period.ts";
import { formatNumber, pluralize } from "../../terminal/format.ts";
import { layOutProse } from "../../terminal/prose.ts";
import { describeHabits } from "./habits.ts";
import { allRequestsOf, failedOf, formatTokens, inputOf } from "./columns.ts";
import { explainTotal } from "./explain-total.ts";
import { describeHidden, describeUnpriced, describeUnreadable } from "./sentences.ts";
import { describeSumsOnly, type SumsOnly } from "./sums-only.ts";
import { stack, type Section } from "./sections.ts";
import { renderTable, type View } from "./table.ts";

/** A usage report, where its records come from, and what was noticed while reading them. */
export interface LedgerReport extends UsageReport {
  period: Period;
  calendar: Calendar;
  prices: PriceBook;
  directory: string;
  /** True when the configuration asks for projects to be recorded. */
  isProjectRecorded: boolean;
  filter: RecordFilter;
  skipped: SkippedLines;
  /** The headings of the names of rows, where they are others than the groupings. */
  heads?: readonly string[];
  /** What makes each of `unaskingTools` ask for usage. */
  remedies: readonly string[];
  /** null when all days still have their records. */
  sumsOnly: SumsOnly | null;
}

/**
 * Renders the report as text: a title, a table with the total last, what explains it, `remarks`, and the sandbox's requests in a table
 * of their own.
 */
export function renderReport(report: LedgerReport, view: View, remarks: readonly string[]): string {
  return stack(reportSections(report, view, remarks));
}

/** Returns the parts of {@link renderReport}. */
export function reportSections(report: LedgerReport, view: View, remarks: readonly string[]): Section[] {
  const { by, period, calendar, sandbox, total, prices } = report;
  const scope = `by ${by.join(" and ")}, ${period.title} (${calendar.zone})`;
  const isShort = view.isTerminal && !view.isWide;
  const shown = isShort ? { ...view, day: period.title } : view;
  const [main, made] = [report, sandbox].map((sums) => {
    const headings = isShort ? headingsOf(by, sums) : new Map<number, ReportRow>();
    const idle = idleHours(report, sums);
    return sums.rows.length > 0 ? renderTable(report.heads ?? by, sums, shown, { idle, headings }) : null;
  });
  const { hidden = [], hasMore = false } = main ?? made ?? {};
  const prose = (paragraphs: readonly string[]): Section => ({
    pages: [layOutProse(paragraphs, view.width)],
  });
  const notHere = main === null ? describeHidden(hidden) : null;
  return [
    main && prose([`Usage ${scope}`]),
    main,
    main && { pages: [explainTotal({ total, table: prices.table, by, hidden, hasMore }, view)] },
    remarks.length > 0 && prose(remarks),
    made && prose([`Sandbox usage ${scope}. Its tokens are made up and cost nothing.`]),
    made,
    notHere !== null && prose([notHere]),
  ].filter(
    (section): section is Section =>
      typeof section === "object" && section !== null && section.pages[0] !== "",
  );
}

/** Returns the sums of rows that share their first name, by the place of the first of them. A row that stands alone has none. */
function headingsOf(by: readonly Grouping[], { rows }: Sums): ReadonlyMap<number, ReportRow> {
  const headings = new Map<number, ReportRow>();
  if (by.length < 2) return headings;
  for (let at = 0; at < rows.length;) {
    const name = rows[at]?.names[0];
    let end = at + 1;
    while (end < rows.length && rows[end]?.names[0] === name) end += 1;
    if (end - at > 1) headings.set(at, sumOfRows([name ?? null], rows.slice(at, end)));
    at = end;
  }
  return headings;
}

/** Hours without requests show in a report by hour. With another grouping first, each of its rows has hours of its own. */
function idleHours({ by, period, calendar }: LedgerReport, { rows }: Sums): readonly number[] {
  if (by[0] !== "hour") return [];
  const names = rows.map((row) => row.names[0] ?? "");
  return countIdleHours(names, { since: period.since, until: period.until ?? Date.now() }, calendar);
}

/** Renders the total in one line, for prompts and notifications. */
export function renderOneLine({ total: { sums, cost }, period }: LedgerReport): string {
  const cached = formatShare(sums.cache_read, inputOf(sums));
  const input = `${formatTokens(inputOf(sums), sums)} tokens in${cached === "" ? "" : ` (${cached} from cache)`}`;
  const unspent = [
    failedOf(sums) > 0 && `${formatNumber(failedOf(sums))} failed`,
    sums.refused > 0 && `${formatNumber(sums.refused)} refused`,
  ].filter((one) => one !== false);
  const others = unspent.length === 0 ? "" : ` (${unspent.join(", ")})`;
  const requests = `${pluralize(allRequestsOf(sums), "request")}${others}`;
  const dollars = formatCost(cost, formatDollars(cost.amount));
  return `${period.title}: ${dollars}, ${requests}, ${input}, ${formatTokens(sums.output, sums)} out`;
}

/** Said where a report by project has none. */
export const PROJECT_NOT_RECORDED =
  "Projects and their branches are not recorded. To record them, type:\n  tollkeeper config set ledger.project true\nIf tollkeeper runs as a service, then type:\n  tollkeeper service install";

const PROJECT_NOT_FOUND =
  "No project could be determined, because the sandbox of the service hides other processes. To start the service without it, type:\n  tollkeeper service install";

/**
 * Returns a paragraph for each thing that makes the numbers differ from what was spent; none when everything is known.
 * @param hasFootnotes true where {@link explainTotal} has named what is unpriced
 */
export function remarksOn(report: LedgerReport, hasFootnotes = false): string[] {
  const { by, rows, total, isProjectRecorded, unaskingTools, remedies, skipped, sumsOnly } = report;
  const remarks = [
    ...unaskingTools.map(
      ({ tool, streams }, at) =>
        `${toPrintable(tool)}: ${pluralize(streams, "streamed response")} came without token counts. To have the next ones counted, ${onOwnLine(remedies[at] ?? "")}`,
    ),
    !hasFootnotes && describeUnpriced(total.cost),
    total.sums.maybe_unbilled > 0 &&
      `The sums do not include ${pluralize(total.sums.maybe_unbilled, "token")} of attempts that another model replaced. The service bills these only in some cases.`,
    by.includes("window") &&
      rows.some(({ names }) => names[by.indexOf("window")] === null) &&
      "Outside a window: requests to services whose answers named no such window.",
    by.some((one, at) => isProject(one) && rows.every(({ names }) => names[at] === null)) &&
      rows.length > 0 &&
      (isProjectRecorded ? PROJECT_NOT_FOUND : PROJECT_NOT_RECORDED),
    ...describeHabits(by, rows),
    sumsOnly !== null && describeSumsOnly(sumsOnly, by, report.filter),
    skipped.first !== null && describeUnreadable(skipped.count, skipped.first),
  ];
  return remarks.filter((remark) => remark !== false && remark !== null);
}

/** Moves the command that ends a remedy to a line of its own; without one, ends the sentence. */
function onOwnLine(remedy: string): string {
  return remedy.includes(": tollkeeper ")
    ? remedy.replace(": tollkeeper ", ":\n  tollkeeper ")
    : `${remedy}.`;
}

function isProject(grouping: Grouping): boolean {
  return grouping === "project" || grouping === "branch";
}
