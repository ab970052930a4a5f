import { matchesModel } from "../policy/model-pattern.ts";
import { nameOf, type Grouping } from "./grouping.ts";
import type { SummableRecord } from "./record.ts";
import { UTC_CALENDAR } from "./calendar.ts";

/** What a report can be limited to. */
const FILTERS = ["tool", "model", "project", "session", "upstream"] as const satisfies readonly Grouping[];

/** Patterns as in the configuration: `*` stands for any characters, everything else is literal. A missing one admits everything. */
export type RecordFilter = Readonly<Partial<Record<(typeof FILTERS)[number], string | undefined>>>;

/** Returns whether a request belongs into a report. `source` is the record with its usage. */
export function isWanted(filter: RecordFilter, record: SummableRecord, source: SummableRecord): boolean {
  for (const field of FILTERS) {
    const pattern = filter[field];
    if (pattern === undefined) continue;
    // None of these depends on the time zone.
    const name = nameOf(field, record, source, UTC_CALENDAR);
    if (name === null || !matchesModel([pattern], name)) return false;
  }
  return true;
}
