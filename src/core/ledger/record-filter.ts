import { matchesModel } from "../policy/model-pattern.ts";
import { nameOf, type Grouping } from "./grouping.ts";
import type { SummableRecord } from "./record.ts";
import { UTC_CALENDAR } from "./calendar.ts";

/** What a report can be limited to. */
export const RECORD_FILTERS = [
  "tool",
  "model",
  "project",
  "branch",
  "session",
  "upstream",
  "key",
] as const satisfies readonly Grouping[];

type Filter = (typeof RECORD_FILTERS)[number];

/** Patterns as in the configuration: `*` stands for any characters, everything else is literal. A missing one admits everything. */
export type RecordFilter = Readonly<Partial<Record<Filter, string | undefined>>>;

/** Returns whether a request belongs into a report. `source` is the record with its usage. */
export function isWanted(filter: RecordFilter, record: SummableRecord, source: SummableRecord): boolean {
  // None of these depends on the time zone.
  return isAdmitted(filter, (field) => nameOf(field, record, source, UTC_CALENDAR));
}

/** Returns whether a filter admits requests with these names; null is admitted only where nothing is asked for. */
export function isAdmitted(filter: RecordFilter, nameOfField: (field: Filter) => string | null): boolean {
  for (const field of RECORD_FILTERS) {
    const pattern = filter[field];
    if (pattern === undefined) continue;
    const name = nameOfField(field);
    if (name === null || !matchesModel([pattern], name)) return false;
  }
  return true;
}
