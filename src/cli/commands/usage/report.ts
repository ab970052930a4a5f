import type { UnreadableLine } from "../../../adapters/ledger-file.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { Period } from "../../../core/ledger/period.ts";
import type { Sums, UsageReport } from "../../../core/ledger/report.ts";
import { formatDollars } from "../../../core/price/money.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { usageRemedy } from "../../../tools/usage-remedy.ts";
import { formatCost, formatShare } from "../../prices/format-cost.ts";
import { formatNumber, pluralize, wrapWords } from "../../terminal/format.ts";
import { inputOf } from "./columns.ts";
import { describeCost, describeCoverage, describeTrouble, describeUnpriced } from "./sentences.ts";
import { renderTable, type View } from "./table.ts";

/** A usage report, where its records come from, and what was noticed while reading them. */
export interface LedgerReport extends UsageReport {
  period: Period;
  calendar: Calendar;
  prices: PriceBook;
  directory: string;
  /** True when the configuration asks for projects to be recorded. */
  isProjectRecorded: boolean;
  /** Lines that are not records. */
  unreadableLines: number;
  firstUnreadable: UnreadableLine | null;
}

/** Renders the report as text: a title, a table with the total last, and the sandbox's requests in a table of their own. */
export function renderReport(report: LedgerReport, view: View): string {
  const { by, period, calendar, sandbox, total, prices } = report;
  const render = (sums: Sums) => renderTable(by, sums, view);
  const scope = `by ${by.join(" and ")}, ${period.title} (${calendar.zone})`;
  const summary = [describeCoverage(total), ...describeCost(total, prices.table), describeTrouble(total)]
    .filter((one) => one !== null)
    .map((one) => wrapWords(one, view.width));
  const parts = [
    report.rows.length > 0 && `${wrapWords(`Usage ${scope}`, view.width)}\n\n${render(report)}`,
    total.sums.requests > 0 && summary.join("\n"),
    sandbox.rows.length > 0 &&
      `${wrapWords(`Sandbox usage ${scope}. Its tokens are made up and cost nothing.`, view.width)}\n\n${render(sandbox)}`,
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

/** Renders the total in one line, for prompts and notifications. */
export function renderOneLine({ total: { sums, cost }, period }: LedgerReport): string {
  const cached = formatShare(sums.cache_read, inputOf(sums));
  const input = `${formatNumber(inputOf(sums))} input${cached === "" ? "" : ` (${cached} cached)`}`;
  const tokens = `${input} and ${formatNumber(sums.output)} output tokens`;
  return `${period.title}: ${formatCost(cost, formatDollars(cost.amount))}, ${pluralize(sums.requests, "request")}, ${tokens}`;
}

/** Said where a report by project has none. */
export const PROJECT_NOT_RECORDED =
  "Projects and their branches are not recorded. To record them, type: tollkeeper config set ledger.project true; if tollkeeper runs as a service, then type: tollkeeper service install";

const PROJECT_NOT_FOUND =
  "No project could be determined, because the sandbox of the service hides other processes. To start the service without it, type: tollkeeper service install";

/** Returns a sentence for each thing that makes the numbers differ from what was spent; none when everything is known. */
export function remarksOn(report: LedgerReport): string[] {
  const { by, rows, total, isProjectRecorded, unaskingTools, unreadableLines, firstUnreadable } = report;
  const remarks = [
    ...unaskingTools.map(({ tool, userAgent, streams }) => {
      const what = `${tool}: ${pluralize(streams, "stream")} of Chat Completions reported no usage`;
      return `${what}. Remedy: ${usageRemedy(tool, userAgent)}.`;
    }),
    ...[describeUnpriced(total.cost)].filter((one) => one !== null),
    total.sums.maybe_unbilled > 0 &&
      `The sums do not include ${pluralize(total.sums.maybe_unbilled, "token")} of attempts that another model replaced. The service bills these only in some cases.`,
    by.some((one, at) => isProject(one) && rows.every(({ names }) => names[at] === null)) &&
      rows.length > 0 &&
      (isProjectRecorded ? PROJECT_NOT_FOUND : PROJECT_NOT_RECORDED),
    firstUnreadable !== null &&
      `The sums do not include ${pluralize(unreadableLines, "unreadable line")} of the ledger. The first is ${firstUnreadable.file}:${firstUnreadable.line}.`,
  ];
  return remarks.filter((remark) => remark !== false);
}

function isProject(grouping: Grouping): boolean {
  return grouping === "project" || grouping === "branch";
}
