import { areDeleted, listDays, readRollup } from "../../adapters/ledger-file.ts";
import { note } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";

/** UTC days, both included. */
interface DayRange {
  from: string;
  to?: string;
}

/**
 * Notes that records in a range of days are deleted, so that only the sums of those days are left. `consequence` says what the command
 * does without them. Returns these days.
 */
export async function noteDeletedDays(
  directory: string,
  range: DayRange,
  consequence: string,
): Promise<string[]> {
  const deleted = listDays(directory, range).filter(({ day, files, hasRollup }) => {
    const sums = hasRollup ? readRollup(directory, day) : null;
    return sums !== null && areDeleted(sums.files, files);
  });
  const [first, last] = [deleted[0]?.day, deleted.at(-1)?.day];
  if (first === undefined) return [];
  const days = first === last ? first : `${pluralize(deleted.length, "day")}, ${first} to ${last}`;
  note(
    `note: the records of ${days} are deleted, and only their sums are left: ${consequence}; to see them, type: tollkeeper usage --since ${first} --until ${last} --utc`,
  );
  return deleted.map(({ day }) => day);
}
