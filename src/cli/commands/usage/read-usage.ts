import { ledgerDirectory } from "../../../adapters/paths.ts";
import { sumsFileName } from "../../../core/ledger/day.ts";
import { type Config, priceSettingsOf } from "../../../core/config/config.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { Period } from "../../../core/ledger/period.ts";
import type { RecordFilter } from "../../../core/ledger/record-filter.ts";
import type { AccountWindows } from "../../../core/limits/window-names.ts";
import { ReportBuilder, sumOptionsOf } from "../../../core/ledger/report.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import type { UnaskingTool } from "../../../core/ledger/streams-without-usage.ts";
import type { SkippedLines } from "../../ledger/records-of-period.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { sumLedger } from "../../sums/sum-ledger.ts";
import { ProgressBar } from "../../terminal/progress-bar.ts";
import type { LedgerReport } from "./report.ts";
import type { SumsOnly } from "./sums-only.ts";

/** What a report is to show. */
interface Question {
  by: Grouping[];
  period: Period;
  calendar: Calendar;
  /** Name of the time zone of the calendar; null for that of this process. */
  zone: string | null;
  filter: RecordFilter;
  /** The windows of services' limits, for rows by window. */
  windows?: readonly AccountWindows[] | undefined;
}

/**
 * Sums up the ledger for a report, with a progress bar where that takes long.
 * @param known prices of the configuration that are loaded already
 */
export async function readUsage(config: Config, asked: Question, known?: PriceBook): Promise<LedgerReport> {
  const { by, period, calendar, zone, filter, windows } = asked;
  const { since, until } = period;
  const directory = ledgerDirectory(config);
  const prices = known ?? (await loadPrices(config));
  const settings = priceSettingsOf(config);
  const limits = prices.allLimits();
  const question = { directory, since, until, by, zone, filter, config: settings, limits, windows };
  const options = sumOptionsOf({ ...asked, prices });
  const builder = new ReportBuilder({ ...asked, prices });
  const skipped: SkippedLines = { count: 0, first: null };
  let sumsOnly: SumsOnly | null = null;
  const bar = new ProgressBar("reading the ledger");
  try {
    for await (const day of sumLedger(question, options, (share) => bar.update(share))) {
      if ("sums" in day) {
        builder.add(day.sums);
        addSkipped(skipped, day.skipped);
      } else if ("closed" in day) {
        for (const block of day.closed.blocks()) {
          builder.addRollup({ block, since, until: until ?? Infinity });
          addSkipped(skipped, block.skipped);
        }
      } else addSkipped(skipped, { count: 1, first: { file: sumsFileName(day.day, "kept"), line: 2 } });
      if ("closed" in day && day.left !== null) sumsOnly = addSumsOnly(sumsOnly, day, day.left);
    }
  } finally {
    bar.end();
  }
  const report = builder.finish();
  return {
    ...report,
    remedies: await findRemedies(report.unaskingTools),
    period,
    calendar,
    filter,
    prices,
    directory,
    isProjectRecorded: config.ledger.project,
    skipped,
    sumsOnly,
  };
}

/** Says for each tool what makes it ask for usage. Loads what is known of tools only where one does not ask. */
async function findRemedies(tools: readonly UnaskingTool[]): Promise<string[]> {
  if (tools.length === 0) return [];
  const { usageRemedy } = await import("../../../tools/usage-remedy.ts");
  return tools.map(({ tool, userAgent }) => usageRemedy(tool, userAgent));
}

function addSkipped(sum: SkippedLines, more: SkippedLines): void {
  sum.count += more.count;
  sum.first ??= more.first;
}

function addSumsOnly(
  days: SumsOnly | null,
  { day, last }: { day: string; last: string },
  left: "divided" | "undivided",
): SumsOnly {
  const isUndivided = left === "undivided" || days?.isUndivided === true;
  return { first: days?.first ?? day, last, isUndivided };
}
