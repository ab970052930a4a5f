import { remarksOn, renderReport, type LedgerReport } from "../../../src/cli/commands/usage/report.ts";
import { usageRemedy } from "../../../src/tools/usage-remedy.ts";
import type { View } from "../../../src/cli/commands/usage/table.ts";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import type { Grouping } from "../../../src/core/ledger/grouping.ts";
import type { Period } from "../../../src/core/ledger/period.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { summarise } from "../../../src/core/ledger/report.ts";
import { priceBook } from "./prices.ts";

/** A terminal in which every usual column has room. */
export const TERMINAL: View = {
  width: 140,
  isTerminal: true,
  isColoured: false,
  isWide: false,
  home: "/home/ada",
};

const PERIOD: Period = { since: 0, until: null, title: "2026-11-23" };

interface Shown extends Partial<View> {
  by?: readonly Grouping[];
  period?: Period;
  /** As in a configuration. */
  upstreams?: object;
  /** What is made of the report before it is shown. */
  arrange?: (report: LedgerReport) => LedgerReport;
}

/** Returns what a terminal shows of these records, but for the age of the prices. */
export function renderedReport(
  records: readonly UsageRecord[],
  { by = ["tool"], period = PERIOD, upstreams = {}, arrange, ...view }: Shown = {},
): string {
  const prices = priceBook(upstreams);
  const sums = summarise(records, { by, calendar: UTC_CALENDAR, prices, filter: {} });
  const report: LedgerReport = {
    ...sums,
    remedies: sums.unaskingTools.map(({ tool, userAgent }) => usageRemedy(tool, userAgent)),
    period,
    calendar: UTC_CALENDAR,
    prices,
    directory: "/home/ada/ledger",
    isProjectRecorded: true,
    filter: {},
    skipped: { count: 0, first: null },
    sumsOnly: null,
  };
  const shown = arrange?.(report) ?? report;
  return renderReport(shown, { ...TERMINAL, ...view }, remarksOn(shown));
}
