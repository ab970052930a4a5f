import { programVersion } from "../../adapters/program.ts";
import type { CheckedFinding, Verdict } from "../../check/check.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { chooseConfigFile } from "../doctor/choose-config.ts";
import { CHECKS, CHECKS_AWAY, runChecks } from "../doctor/checks.ts";
import { gatherEvidence } from "../doctor/evidence.ts";
import { isAway } from "../doctor/is-away.ts";
import { EXIT, hasColours, printJson, printStyled } from "../terminal/console.ts";
import { formatNumber, pluralize } from "../terminal/format.ts";
import { MOST_CHARACTERS, wrapAdvice } from "../terminal/wrap.ts";

interface DoctorArguments extends ReportArguments {
  all: boolean;
}

/** `tollkeeper doctor`: finds problems and says how to fix them. Changes nothing. Exits with 1 when there is a failure, else 0. */
export const command: Command<DoctorArguments> = {
  builder: (yargs) =>
    reportOptions(yargs).option("all", {
      type: "boolean",
      default: false,
      describe: "Say on a terminal what is well, too",
    }),
  handler: async ({ config, json, all }) => {
    const evidence = gatherEvidence(await chooseConfigFile(config));
    const isElsewhere = config === undefined && (await isAway(evidence));
    const checks = await runChecks(isElsewhere ? CHECKS_AWAY : CHECKS, evidence);
    if (json) printJson({ version: programVersion(), checks });
    else {
      const render = process.stdout.isTTY && !all ? renderProblems : renderFindings;
      printStyled(render(checks, hasColours(), process.stdout.columns || Infinity));
    }
    if (!isHealthy(checks)) process.exitCode = EXIT.failed;
  },
};

/** ANSI colour codes: green, yellow, red, grey. */
const COLOURS: Record<Verdict, number> = { ok: 32, warning: 33, failure: 31, skipped: 90 };

/** True when there is no failure. Warnings do not count. */
export function isHealthy(findings: readonly CheckedFinding[]): boolean {
  return findings.every(({ verdict }) => verdict !== "failure");
}

/** Renders what is wrong, after the totals. What is well, or was skipped, is only named. */
export function renderProblems(
  findings: readonly CheckedFinding[],
  isColoured: boolean,
  columns = Infinity,
): string {
  const problems = findings.filter(({ verdict }) => verdict === "failure" || verdict === "warning");
  const wrong = new Set(problems.map(({ id }) => id));
  const named = (wanted: Verdict) => {
    const titles = findings.filter(({ id, verdict }) => verdict === wanted && !wrong.has(id));
    return [...new Set(titles.map(({ title }) => title))];
  };
  const lines = (verdict: Verdict, more: string) => {
    const titles = named(verdict);
    if (titles.length === 0) return [];
    const head = `${paint(verdict.padEnd(VERDICT_WIDTH), COLOURS[verdict], isColoured)}  `;
    const text = `${formatNumber(titles.length)}: ${titles.join(", ")}${more}`;
    return indented(head, VERDICT_WIDTH + GAP, text, Math.min(columns, MOST_CHARACTERS));
  };
  const others = [...lines("skipped", ""), ...lines("ok", " (--all says more)")];
  const shown = problems.length === 0 ? [] : [renderLines(problems, isColoured, columns).join("\n"), ""];
  return [totalsOf(findings), "", ...shown, ...others].join("\n");
}

/** Renders the findings as text: one line each with its fix below, and the totals. Words go on below where there is no room. */
export function renderFindings(
  findings: readonly CheckedFinding[],
  isColoured: boolean,
  columns = Infinity,
): string {
  return [...renderLines(findings, isColoured, columns), "", totalsOf(findings)].join("\n");
}

function renderLines(findings: readonly CheckedFinding[], isColoured: boolean, columns: number): string[] {
  const width = widthOf(findings.map(({ title }) => title));
  const verdictWidth = VERDICT_WIDTH;
  return findings.flatMap(({ verdict, id, title, message, fix }, i) => {
    const before = findings[i - 1];
    const after = findings[i + 1];
    const name = before?.id === id ? "" : title;
    const rating = paint(verdict.padEnd(verdictWidth), COLOURS[verdict], isColoured);
    const isNarrow = columns < NARROW;
    const head = isNarrow ? `${rating}  ` : `${rating}  ${name.padEnd(width)}  `;
    const indent = verdictWidth + GAP + (isNarrow ? 0 : width + GAP);
    const text = isNarrow && name !== "" ? `${name}: ${toPrintable(message)}` : toPrintable(message);
    const lines = indented(head, indent, text, columns);
    // A fix that several findings share is shown once, below the last of them.
    const isShownLater = after?.id === id && after.fix === fix;
    return fix === null || isShownLater
      ? lines
      : [
          ...lines,
          ...indented(`${" ".repeat(verdictWidth)}  -> `, verdictWidth + 5, toPrintable(fix), columns),
        ];
  });
}

const VERDICT_WIDTH = widthOf(Object.keys(COLOURS));

/** Between two columns. */
const GAP = 2;

/** A narrower terminal has no column of titles: each stands before its message. */
const NARROW = 72;

/** Returns a text behind a head, and below it where there is no room. */
function indented(head: string, indent: number, text: string, columns: number): string[] {
  return wrapAdvice(text, columns - indent).map((line, at) => (at === 0 ? head : " ".repeat(indent)) + line);
}

function totalsOf(findings: readonly CheckedFinding[]): string {
  const count = (wanted: Verdict) => findings.filter(({ verdict }) => verdict === wanted).length;
  const totals = [pluralize(count("failure"), "failure"), pluralize(count("warning"), "warning")];
  const shown = totals.filter((total) => !total.startsWith("0 "));
  return shown.length === 0 ? "no problems found" : shown.join(", ");
}

function widthOf(texts: readonly string[]): number {
  return Math.max(...texts.map(({ length }) => length));
}

function paint(text: string, colour: number, isColoured: boolean): string {
  return isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text;
}
