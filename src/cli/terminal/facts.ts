import { toPrintable } from "../../core/text/printable.ts";
import { hasColours, printStyled } from "./console.ts";
import { labelledLine } from "./format.ts";
import { wrapAdvice } from "./wrap.ts";
import { inTone, type Tone } from "./styles.ts";

/** A line of a report: what it is about, what there is to say, and how that stands out. Without a label, it belongs to the line before. */
export type Fact = readonly [label: string, text: string, tone?: Tone];

/**
 * Lays out facts, a line each. Where a text has no room, its words go on under its beginning, and a command that ends it has a line of its
 * own. Control characters are escaped.
 */
export function layOutFacts(facts: readonly Fact[], width: number, isColoured: boolean): string[] {
  const room = width - labelledLine("", "").length;
  return facts.flatMap(([label, text, tone = "plain"]) =>
    wrapAdvice(toPrintable(text), room).map((line, at) =>
      labelledLine(at === 0 ? label : "", inTone(line, tone, isColoured)),
    ),
  );
}

/** Prints facts on standard output. */
export function printFacts(facts: readonly Fact[]): void {
  printStyled(layOutFacts(facts, process.stdout.columns || Infinity, hasColours()).join("\n"));
}
