import { findDays, visitDay, type UnreadableLine } from "../../../adapters/ledger-file.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { projectTest, readRepository, type Repository } from "../../../adapters/repository.ts";
import type { Config } from "../../../core/config/config.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import { CommitReportBuilder, type CommitReport, type CommitRow } from "../../../core/ledger/commits.ts";
import { dayAt } from "../../../core/ledger/day.ts";
import type { Period } from "../../../core/ledger/period.ts";
import type { RecordFilter } from "../../../core/ledger/record-filter.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { printJson, printStyled } from "../../terminal/console.ts";
import { displayPath, pluralize } from "../../terminal/format.ts";
import { ProgressBar } from "../../terminal/progress-bar.ts";
import { layOutProse, noteProse } from "../../terminal/prose.ts";
import { renderCsvRows } from "./csv.ts";
import { REPORT_VERSION, toFields } from "./document.ts";
import { PROJECT_NOT_RECORDED } from "./report.ts";
import { explainTotal, hasFootnotes } from "./explain-total.ts";
import { showWide, stack, viewOf } from "./sections.ts";
import { describeUnpriced, describeUnreadable } from "./sentences.ts";
import { renderTable } from "./table.ts";

/** What to show, and how. */
interface CommitView {
  period: Period;
  calendar: Calendar;
  filter: RecordFilter;
  form: "table" | "json" | "csv";
  isWide: boolean;
}

/** Spending by commit, and where it comes from. */
interface LedgerCommits extends CommitReport {
  repository: Repository;
  prices: PriceBook;
  unreadable: readonly UnreadableLine[];
}

/** As many characters as git shows. */
const SHORT_HASH = 8;

/** Prints what was spent for each commit of the branch that is checked out in the working directory. */
export async function showCommits(config: Config, view: CommitView): Promise<void> {
  const report = await readCommits(config, view);
  if (view.form === "json") return printJson(toDocument(report, view));
  // RFC 4180 section 2.1: lines end in CRLF.
  if (view.form === "csv") for (const line of renderCsv(report)) printStyled(`${line}\r`);
  else if (!isSpent(report.total)) showNothing(config, report, view);
  else await showTable(report, view);
}

async function readCommits(config: Config, { period, filter }: CommitView): Promise<LedgerCommits> {
  const { since, until } = period;
  const repository = await readRepository(process.cwd(), since);
  const prices = await loadPrices(config);
  const { branch } = repository;
  const isInRepository = projectTest(repository);
  // Those after the period take what was spent in it after its last commit.
  const builder = new CommitReportBuilder({
    commits: repository.commits,
    branch,
    isInRepository,
    prices,
    filter,
  });
  const unreadable: UnreadableLine[] = [];
  const directory = ledgerDirectory(config);
  const firstTs = new Date(since).toISOString();
  const endTs = until === null ? null : new Date(until).toISOString();
  const range = { from: dayAt(since), ...(until !== null && { to: dayAt(until - 1) }) };
  const days = findDays(directory, range);
  const bar = new ProgressBar("reading the ledger");
  try {
    for (const [at, day] of days.entries()) {
      const sums = builder.createDay();
      await visitDay(directory, day, (entry) => {
        if ("unreadable" in entry) unreadable.push(entry);
        else if (entry.ts >= firstTs && (endTs === null || entry.ts < endTs)) sums.add(entry);
      });
      builder.add(sums);
      bar.update((at + 1) / days.length);
    }
  } finally {
    bar.end();
  }
  const { rows, total } = builder.finish();
  return { rows: rows.filter((row) => isOfPeriod(row, until)), total, repository, prices, unreadable };
}

/** A commit after the period is shown only with what was spent in it. */
function isOfPeriod({ commit, sums }: CommitRow, until: number | null): boolean {
  return until === null || commit === null || commit.at < until || isSpent({ sums });
}

/** True where any request was made. */
function isSpent({ sums }: Pick<CommitRow, "sums">): boolean {
  return sums.requests + sums.failed > 0;
}

function nameOfBranch({ branch }: Repository): string {
  return branch ?? "a detached HEAD";
}

async function showTable(report: LedgerCommits, { period, calendar, isWide }: CommitView): Promise<void> {
  const { rows, total, repository, prices, unreadable } = report;
  const view = viewOf(isWide);
  const shownRows = rows.filter((row) => row.kind !== "commit" || isSpent(row));
  const quiet = rows.length - shownRows.length;
  const named = shownRows.map((row) => ({ ...row, names: namesOf(row, calendar) }));
  const all = { ...total, names: [] };
  const title = `Usage by commit of ${nameOfBranch(repository)} in ${displayPath(repository.root, view.home)}, ${period.title} (${calendar.zone})`;
  const table = renderTable(["commit", "authored", "subject"], { rows: named, total: all }, view);
  const { hidden, hasMore } = table;
  const first = unreadable[0];
  const remarks = [
    hasFootnotes(view) ? null : describeUnpriced(total.cost),
    quiet === 0 ? null : `Not shown: ${pluralize(quiet, "commit")} of the period without recorded usage.`,
    first === undefined ? null : describeUnreadable(unreadable.length, first),
  ].filter((one) => one !== null);
  const explained = explainTotal({ total: all, table: prices.table, by: null, hidden, hasMore }, view);
  const sections = [
    { pages: [layOutProse([title], view.width)] },
    table,
    { pages: [[explained, layOutProse(remarks, view.width)].filter((text) => text !== "").join("\n")] },
  ];
  return isWide ? showWide(sections) : printStyled(stack(sections));
}

const TITLES = { uncommitted: "not committed yet", other_branches: "on other branches" };

function namesOf({ kind, commit }: CommitRow, calendar: Calendar): string[] {
  if (commit === null) return ["", "", kind === "commit" ? "" : TITLES[kind]];
  return [commit.hash.slice(0, SHORT_HASH), calendar.dayOf(commit.at), commit.subject];
}

function showNothing(config: Config, { repository }: LedgerCommits, { period, calendar }: CommitView): void {
  const { root } = repository;
  noteProse([
    `No usage of ${root} is recorded for ${period.title} (${calendar.zone}) in ${ledgerDirectory(config)}.`,
    config.ledger.project
      ? "To see the projects that are recorded, type:\n  tollkeeper usage --by project,branch"
      : PROJECT_NOT_RECORDED,
  ]);
}

function toDocument(report: LedgerCommits, { period, calendar }: CommitView): object {
  const { rows, total, repository, prices, unreadable } = report;
  return {
    v: REPORT_VERSION,
    repository: repository.root,
    branch: repository.branch,
    since: new Date(period.since).toISOString(),
    until: period.until === null ? null : new Date(period.until).toISOString(),
    time_zone: calendar.zone,
    prices: { source: prices.table.source, as_of: prices.table.asOf },
    rows: rows.map((row) => ({ ...toNames(row), ...toFields(row) })),
    total: toFields(total),
    unreadable_lines: unreadable.length,
  };
}

function toNames({ kind, commit }: CommitRow) {
  return {
    kind,
    commit: commit?.hash ?? null,
    authored_at: commit === null ? null : new Date(commit.at).toISOString(),
    subject: commit?.subject ?? null,
  };
}

function renderCsv({ rows }: LedgerCommits): string[] {
  return renderCsvRows(
    ["kind", "commit", "authored_at", "subject"],
    rows.map((row) => [Object.values(toNames(row)), row]),
  );
}
