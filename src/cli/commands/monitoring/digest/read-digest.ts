import { observe, remember, dayOfHour, type Cell, type Observation } from "../../../../core/digest/cells.ts";
import { findOutOfLine, type Finding } from "../../../../core/digest/out-of-line.ts";
import { Past } from "../../../../core/digest/past.ts";
import { describeSpending, type Span, type UsualSpending } from "../../../../core/digest/usual-spending.ts";
import type { BudgetStatus } from "../../../../core/budget/budget-status.ts";
import type { Config } from "../../../../core/config/config.ts";
import { Failure } from "../../../../core/failure.ts";
import type { Calendar } from "../../../../core/ledger/calendar.ts";
import type { Grouping } from "../../../../core/ledger/grouping.ts";
import type { Period } from "../../../../core/ledger/period.ts";
import { readRow, type ReportRow } from "../../../../core/ledger/report.ts";
import { sumTokens } from "../../../../core/ledger/tally.ts";
import { askRunning } from "../../../../daemon/running-daemon.ts";
import { attempt } from "../../../attempt.ts";
import { readUsage } from "../../usage/read-usage.ts";
import type { LedgerReport } from "../../usage/report.ts";
import { toDollars } from "./dollars.ts";
import { visitRequests } from "./visit-requests.ts";

/** What a digest is about. */
interface DigestQuestion {
  span: Span;
  /** A day or a week that is over. */
  period: Period;
  calendar: Calendar;
  /** Name of the time zone of the calendar; null for that of this process. */
  zone: string | null;
}

/** A row of the digest, and what is usual of its tool in its project. */
export interface DigestRow extends ReportRow {
  usual: UsualSpending | null;
}

/** What a digest says. */
export interface Digest extends DigestQuestion {
  /** By tool and project, as `usage --by tool,project` has it. */
  report: LedgerReport;
  rows: readonly DigestRow[];
  /** null where too little is known. */
  usual: UsualSpending | null;
  /** The largest first. */
  outOfLine: readonly Finding[];
  /** Those of the month, the fullest first; null if no daemon answers. */
  budgets: readonly BudgetStatus[] | null;
}

/** With how many days of the past the period is compared. Whole weeks, so that each weekday counts as often. */
const PAST_DAYS: Readonly<Record<Span, number>> = { day: 28, week: 56 };

const CELL: Grouping[] = ["hour", "tool", "project", "session", "agent"];

/** Reads the ledger for a digest. No prompt is read: the ledger has none. */
export async function readDigest(config: Config, asked: DigestQuestion): Promise<Digest> {
  const { span, period, calendar } = asked;
  const question = { ...asked, filter: {} };
  const report = await readUsage(config, { ...question, by: ["tool", "project"] });
  const budgets = await readMonthBudgets();
  if (report.rows.length === 0) return { ...asked, report, rows: [], usual: null, outOfLine: [], budgets };
  const { prices, directory } = report;
  const first = calendar.dayOf(period.since);
  const whole = { ...period, since: calendar.startOf(first, -PAST_DAYS[span]) };
  const { rows } = await readUsage(config, { ...question, period: whole, by: CELL }, prices);
  const cells = rows.flatMap(toCell);
  const before = cells.filter(({ hour }) => dayOfHour(hour) < first);
  const within = cells.filter(({ hour }) => dayOfHour(hour) >= first);
  const past = new Past();
  remember(before, past);
  const judged = observe(within);
  await visitRequests(directory, whole, prices, (record, amount) => {
    const { id, tool, project, session, agent, ts } = record;
    const time = Date.parse(ts);
    if (time < period.since) past.add("request", { tool, project }, amount);
    else judged.push({ ...toRequest(calendar.hourOf(time), id), tool, project, session, agent, ...amount });
  });
  return {
    ...asked,
    report,
    rows: report.rows.map((row) => {
      const [tool, project = null] = row.names;
      const usual = describeSpending(before, span, { tool: tool ?? "", project });
      return { ...readRow(row), usual };
    }),
    usual: describeSpending(before, span),
    outOfLine: findOutOfLine(judged, within, past),
    budgets,
  };
}

/** Returns nothing for what is left of a day whose records are deleted: its hours are not known. */
function toCell({ names, sums, cost }: ReportRow): Cell[] {
  const [hour = null, tool = null, project = null, session = null, agent = null] = names;
  if (hour === null || tool === null) return [];
  const charged = toDollars(cost.amount);
  const usd = charged + toDollars(cost.worth?.amount ?? 0n);
  return [
    { hour, tool, project, session, agent, usd, charged, tokens: sumTokens(sums), requests: sums.requests },
  ];
}

function toRequest(hour: string, id: string): Pick<Observation, "kind" | "day" | "hour" | "request"> {
  return { kind: "request", day: dayOfHour(hour), hour, request: id };
}

async function readMonthBudgets(): Promise<BudgetStatus[] | null> {
  // What is left is one line of the digest: a daemon that does not answer is no reason to print none.
  const { value: status } = await attempt(Failure, () => askRunning("budgets"));
  if (status === null) return null;
  return status.budgets
    .filter(({ window }) => "per" in window && window.per === "month")
    .toSorted((one, other) => other.percent - one.percent);
}
