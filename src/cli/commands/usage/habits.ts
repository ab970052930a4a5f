import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow } from "../../../core/ledger/report.ts";
import { habitFor, nameMiss } from "../../../core/misses/reasons.ts";

/** Says for each reason in a report by miss, the first one first, how to avoid it. Nothing for any other report. */
export function describeHabits(by: readonly Grouping[], rows: readonly ReportRow[]): string[] {
  const at = by.indexOf("miss");
  if (at === -1) return [];
  const words = new Set(rows.map(({ names }) => names[at] ?? null));
  return [...words].flatMap((word) => {
    if (word === null) return [];
    const habit = habitFor(word);
    return habit === null ? [] : [`${nameMiss(word)}: ${habit}`];
  });
}
