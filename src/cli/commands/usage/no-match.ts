import type { Grouping } from "../../../core/ledger/grouping.ts";
import { RECORD_FILTERS, type RecordFilter } from "../../../core/ledger/record-filter.ts";
import { findNearest } from "../../../core/text/did-you-mean.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import type { LedgerReport } from "./report.ts";

/** More names are not listed in a sentence. */
const MOST_LISTED = 12;

/** Sums up the same period by something else. */
type Read = (by: Grouping[], filter: RecordFilter) => Promise<LedgerReport>;

/** Says of a report that its filter has left empty what the filter did not match, and what there is; null where nothing is recorded. */
export async function explainNoMatch(
  { filter, period, calendar }: LedgerReport,
  read: Read,
): Promise<string[] | null> {
  const given = RECORD_FILTERS.filter((field) => filter[field] !== undefined);
  const [first] = given;
  if (first === undefined) return null;
  const when = `${period.title} (${calendar.zone})`;
  for (const field of given) {
    const names = namesIn(await read([field], {}));
    if (names === null) return null;
    if (namesIn(await read([field], { [field]: filter[field] })) !== null) continue;
    const wanted = filter[field] ?? "";
    const nearest = findNearest(wanted, names);
    const guess = nearest === null ? "" : ` Did you mean ${toPrintable(nearest)}?`;
    return [
      `No request of ${when} has the ${field} ${toPrintable(wanted)}.${guess} ${listNames(field, names)}`,
    ];
  }
  const options = given.map((field) => `--${field} ${toPrintable(filter[field] ?? "")}`).join(" and ");
  return [`No request of ${when} matches ${options} together; each of them alone does.`];
}

/** Returns the names of the rows; null if there is no row. */
function namesIn({ rows, sandbox }: LedgerReport): string[] | null {
  const all = [...rows, ...sandbox.rows];
  return all.length === 0 ? null : [...new Set(all.flatMap(({ names }) => names[0] ?? []))];
}

function listNames(field: string, names: readonly string[]): string {
  if (names.length === 0) return `None has a ${field}.`;
  const shown = names
    .slice(0, MOST_LISTED)
    .map((name) => toPrintable(name))
    .join(", ");
  const more = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : "";
  return `There is: ${shown}${more}.`;
}
