import { localZoneName } from "../../adapters/time-zone.ts";
import { Failure } from "../../core/failure.ts";
import { localCalendar, UTC_CALENDAR, zonedCalendar, type Calendar } from "../../core/ledger/calendar.ts";
import { parsePeriod, type Period } from "../../core/ledger/period.ts";
import type { RecordFilter } from "../../core/ledger/record-filter.ts";
import type { Argv } from "../command-line.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** The time zone of days. */
export interface ZoneArguments {
  timezone?: string | undefined;
  utc?: boolean | undefined;
}

/** Arguments of commands that read a part of the ledger. */
export interface PeriodArguments extends RecordFilter, ZoneArguments {
  since: string;
  until?: string | undefined;
}

/** The default of `--since`. */
export const DEFAULT_SINCE = "30d";

/** Adds the options for {@link PeriodArguments}. */
export function periodOptions<T>(yargs: Argv<T>): Argv<T & PeriodArguments> {
  const withPeriod = yargs
    .option("since", {
      type: "string",
      default: DEFAULT_SINCE,
      describe:
        'Start of the period: 24h, 7d (including today), yesterday, "last week", 2026-11, 2026-11-01 or 2026-11-01T09:30Z',
    })
    .option("until", {
      type: "string",
      describe:
        "Last day, week or month of the period, or the moment before which it ends; default: until now",
    });
  return filterOptions(zoneOptions(withPeriod));
}

/** Adds the options for {@link ZoneArguments}. */
export function zoneOptions<T>(yargs: Argv<T>): Argv<T & ZoneArguments> {
  return yargs
    .option("timezone", {
      type: "string",
      describe: "Time zone of the days, such as Europe/Berlin; default: local",
    })
    .option("utc", { type: "boolean", describe: "Count days in UTC instead of local time" })
    .conflicts("utc", "timezone");
}

/** Adds the options of a filter. */
export function filterOptions<T>(yargs: Argv<T>): Argv<T & RecordFilter> {
  return yargs
    .option("tool", only("tool"))
    .option("model", only("model"))
    .option("project", only("project"))
    .option("branch", only("branch"))
    .option("session", {
      type: "string",
      describe:
        'Only the requests of this session; last: that of the newest request; "*" stands for any characters',
    })
    .option("upstream", only("upstream"))
    .option("key", only("key"));
}

/** Returns the filter that the options choose. */
export function filterOf(given: RecordFilter): RecordFilter {
  const { tool, model, project, branch, session, upstream, key } = given;
  return { tool, model, project, branch, session, upstream, key };
}

/** The option of a filter. */
function only(field: keyof RecordFilter) {
  return {
    type: "string",
    describe: `Only the requests of this ${field}; "*" stands for any characters`,
  } as const;
}

/** Returns the name of the time zone that the options choose; null for that of this process. */
export function zoneOf({ timezone, utc }: Pick<PeriodArguments, "timezone" | "utc">): string | null {
  return utc === true ? UTC_CALENDAR.zone : (timezone ?? null);
}

/** Returns the calendar that the options choose. @throws WrongUsage for an unknown time zone */
export function readCalendar({ timezone, utc }: Pick<PeriodArguments, "timezone" | "utc">): Calendar {
  if (utc === true) return UTC_CALENDAR;
  if (timezone === undefined) return localCalendar(localZoneName);
  try {
    return zonedCalendar(timezone);
  } catch {
    throw new WrongUsage(
      `no time zone is called ${JSON.stringify(timezone)}`,
      "use a name of the IANA database, such as Europe/Berlin",
    );
  }
}

/** Returns the period that the options name, until now at the latest. @throws WrongUsage for what is not a period */
export function readPeriod(
  { since, until }: Pick<PeriodArguments, "since"> & Partial<Pick<PeriodArguments, "until">>,
  calendar: Calendar,
): Period {
  try {
    const period = parsePeriod({ since, until }, Date.now(), calendar);
    if (period.since <= Date.now()) return period;
  } catch (error) {
    throw error instanceof Failure ? new WrongUsage(error.message, error.hint) : error;
  }
  throw new WrongUsage(
    `--since ${JSON.stringify(since)} is in the future`,
    "type a day that has begun, for example: --since today",
  );
}
