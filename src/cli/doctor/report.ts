import { printable } from "../../core/text/printable.ts";
import { countOf } from "../terminal/count-of.ts";
import type { Verdict } from "./finding.ts";
import type { CheckedFinding } from "./run.ts";

/** ANSI colours, as terminals have them: green, yellow, red, grey. */
const COLOURS: Record<Verdict, number> = { ok: 32, warning: 33, failure: 31, skipped: 90 };

/** Is nothing in the way? Warnings are not. */
export function isWell(findings: readonly CheckedFinding[]): boolean {
  return findings.every(({ verdict }) => verdict !== "failure");
}

/** The findings for people: a line each, what mends it below, and a sum. */
export function renderFindings(findings: readonly CheckedFinding[], isColoured: boolean): string {
  const width = widthOf(findings.map(({ title }) => title));
  const verdictWidth = widthOf(Object.keys(COLOURS));
  const lines = findings.flatMap(({ verdict, id, title, message, fix }, i) => {
    const before = findings[i - 1];
    const after = findings[i + 1];
    const name = before?.id === id ? "" : title;
    const shown = paint(verdict.padEnd(verdictWidth), COLOURS[verdict], isColoured);
    const line = `${shown}  ${name.padEnd(width)}  ${printable(message)}`;
    // Several faults may have one fix: it is told below the last of them.
    const isToldLater = after?.id === id && after.fix === fix;
    return fix === null || isToldLater ? [line] : [line, `${" ".repeat(verdictWidth)}  -> ${printable(fix)}`];
  });
  return [...lines, "", sumOf(findings)].join("\n");
}

function sumOf(findings: readonly CheckedFinding[]): string {
  const count = (wanted: Verdict) => findings.filter(({ verdict }) => verdict === wanted).length;
  const sums = [countOf(count("failure"), "failure"), countOf(count("warning"), "warning")];
  const told = sums.filter((sum) => !sum.startsWith("0 "));
  return told.length === 0 ? "all is well" : told.join(", ");
}

function widthOf(texts: readonly string[]): number {
  return Math.max(...texts.map(({ length }) => length));
}

function paint(text: string, colour: number, isColoured: boolean): string {
  return isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text;
}
