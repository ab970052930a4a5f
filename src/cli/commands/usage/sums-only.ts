import { isTime, type Grouping } from "../../../core/ledger/grouping.ts";
import { isInRollups } from "../../../core/ledger/rollup/rollup-sums.ts";
import { RECORD_FILTERS, type RecordFilter } from "../../../core/ledger/record-filter.ts";

/** The days of a report whose records are deleted, so that only their sums are left. */
export interface SumsOnly {
  /** UTC days. Between them may be some that still have their records. */
  first: string;
  last: string;
  /** True when some of these days were summed for another time zone. */
  isUndivided: boolean;
}

/** Says which records are deleted, and what the report cannot know because of that. */
export function describeSumsOnly(
  { first, last, isUndivided }: SumsOnly,
  by: readonly Grouping[],
  filter: RecordFilter,
): string {
  const days = first === last ? `of ${first}` : `from ${first} to ${last}`;
  const unknown = by.filter((grouping) => !isInRollups(grouping));
  const filters = RECORD_FILTERS.filter((field) => filter[field] !== undefined && !isInRollups(field));
  const sentences = [
    `The records ${days} were deleted (ledger.retainDays, ledger prune). The report has their daily sums.`,
    ...unknown.map(
      (one) => `They have no ${pluralOf(one)}, so these requests are in the row without a name.`,
    ),
    ...filters.map((one) => `They have no ${pluralOf(one)}, so these requests are not in the report.`),
    ...(isUndivided && (by.some(isTime) || filters.length === 0)
      ? [
          "Some of these sums were made for another time zone: requests near midnight may count for the neighbouring day.",
        ]
      : []),
  ];
  return sentences.join(" ");
}

function pluralOf(grouping: string): string {
  return grouping === "branch" ? "branches" : `${grouping}s`;
}
