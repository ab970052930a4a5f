import { GROUPINGS, type Grouping } from "../../../core/ledger/grouping.ts";
import type { RecordFilter } from "../../../core/ledger/record-filter.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { pluralize } from "../../terminal/format.ts";
import { DEFAULT_SINCE, readCalendar, readPeriod } from "../../ledger/period-options.ts";
import { loadConfig } from "../../load-config.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { toDocument } from "../usage/document.ts";
import { readUsage } from "../usage/read-usage.ts";
import { remarksOn, renderReport, type LedgerReport } from "../usage/report.ts";
import { answerOf, textView, type Question } from "./question.ts";
import { branchFilter, projectFilter, requireProjects } from "./scope.ts";
import { firstRows, shortenReport } from "./short-document.ts";

/** What a project, a branch or a day has cost, as `usage` says it. */
export const PROJECT_COST: Question = {
  tool: {
    name: "project_cost",
    title: "Cost of a project, branch or day",
    description:
      "What this project has cost: requests, tokens and US dollars by model, day, branch, session or the like.",
    parameters: {
      since: `Start of the period, such as today, yesterday, "this week", 7d or 2026-11-01. Default: ${DEFAULT_SINCE}`,
      until: "Last day of the period. Default: until now",
      by: `What each row is: one or two of ${GROUPINGS.join(", ")}, as in model,day. Default: model`,
      branch: 'Only this git branch; "HEAD" is the one that is checked out. Default: all',
      model: 'Only this model; "*" stands for any characters. Default: all',
      tool: 'Only this tool, such as codex; "*" stands for any characters. Default: all',
      project: 'Root of another project, or "*", if the server allows all projects. Default: this project',
    },
  },
  async answer({ given, scope, file }) {
    const by = readGroupings(given["by"]);
    const calendar = readCalendar({});
    const period = readPeriod({ since: given["since"] ?? DEFAULT_SINCE, until: given["until"] }, calendar);
    const config = await loadConfig(file);
    const filter = {
      project: projectFilter(scope, given["project"]),
      branch: await branchFilter(given["branch"]),
      model: given["model"],
      tool: given["tool"],
    };
    const report = await readUsage(config, { by, period, calendar, zone: null, filter });
    const isEmpty = report.rows.length + report.sandbox.rows.length === 0;
    if (isEmpty) requireProjects(config);
    const text = isEmpty ? describeNothing(report) : describe(report);
    return answerOf(`Of ${describeFilter(filter)}:\n${text}`, {
      filter: { ...filter },
      ...shortenReport(toDocument(report), {
        own: report,
        sandbox: report.sandbox,
        table: report.prices.table,
        remarks: remarksOn(report),
      }),
    });
  },
};

const USUAL_GROUPING: Grouping[] = ["model"];

function readGroupings(given: string | undefined): Grouping[] {
  if (given === undefined) return USUAL_GROUPING;
  const names = given.split(",").map((name) => name.trim());
  const by = names.flatMap((name) => GROUPINGS.find((grouping) => grouping === name) ?? []);
  if (by.length === names.length && new Set(by).size === by.length && by.length <= 2) return by;
  throw new WrongUsage('"by" takes one or two different groupings', `they are: ${GROUPINGS.join(", ")}`);
}

function describe(report: LedgerReport): string {
  const { rows, sandbox } = report;
  const shown = {
    ...report,
    rows: [...firstRows(rows)],
    sandbox: { ...sandbox, rows: [...firstRows(sandbox.rows)] },
  };
  const left = rows.length - shown.rows.length + sandbox.rows.length - shown.sandbox.rows.length;
  const remarks = [
    ...remarksOn(report),
    left > 0 && `${pluralize(left, "more row")} not shown; the totals include them.`,
  ];
  return renderReport(
    shown,
    textView(),
    remarks.filter((remark) => remark !== false),
  );
}

function describeNothing(report: LedgerReport): string {
  const { period, calendar } = report;
  return [...remarksOn(report), `No usage is recorded for ${period.title} (${calendar.zone}).`].join("\n");
}

/** Says e.g. `project /home/ann/shop, branch main`. */
function describeFilter(filter: RecordFilter): string {
  return Object.entries(filter)
    .flatMap(([field, value]) => (value === undefined ? [] : [`${field} ${toPrintable(value)}`]))
    .join(", ");
}
