const HOUR_MS = 60 * 60 * 1000;
const QUARTER_MS = HOUR_MS / 4;
const DAY_MS = 24 * HOUR_MS;

/** Further from UTC than any time zone is or was. */
const MAX_OFFSET_MS = 26 * HOUR_MS;

/** Days as people in one time zone count them. Written `YYYY-MM-DD`, so they sort and compare as text. */
export interface Calendar {
  /** The time zone's IANA name, e.g. `Europe/Berlin`, or `UTC`. */
  readonly zone: string;
  /** Returns the day of a wall time in milliseconds since 1970. */
  dayOf(time: number): string;
  /** Returns the hour of a wall time as `YYYY-MM-DD HH:00`. */
  hourOf(time: number): string;
  /** Returns the wall time at which a day starts, `offset` days later. Days of 23 and 25 hours count as one. */
  startOf(day: string, offset?: number): number;
}

export const UTC_CALENDAR: Calendar = {
  zone: "UTC",
  dayOf: (time) => new Date(time).toISOString().slice(0, 10),
  hourOf: (time) => `${new Date(time).toISOString().slice(0, 13).replace("T", " ")}:00`,
  startOf: (day, offset = 0) => Date.parse(day) + offset * DAY_MS,
};

/**
 * Returns the calendar of the time zone that this process runs in, without loading what the runtime knows of all others.
 * @param zoneName returns the zone's name
 */
export function localCalendar(zoneName = currentZone): Calendar {
  return {
    get zone() {
      return zoneName();
    },
    dayOf: (time) => localDayOf(new Date(time)),
    hourOf(time) {
      const date = new Date(time);
      return `${localDayOf(date)} ${twoDigits(date.getHours())}:00`;
    },
    startOf(day, offset = 0) {
      const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
      // Where the clocks go forward at midnight it is the hour after; where they go back then, the first of both.
      return new Date(year, month - 1, date + offset).getTime();
    },
  };
}

function currentZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function localDayOf(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/** Returns the calendar of a time zone by its IANA name, or that of this process. @throws RangeError for an unknown one */
export function calendarOf(zone: string | null): Calendar {
  if (zone === null) return localCalendar();
  return zone === "UTC" ? UTC_CALENDAR : zonedCalendar(zone);
}

/** Returns the calendar of a time zone by its IANA name. @throws RangeError for an unknown one */
export function zonedCalendar(zone: string): Calendar {
  // Its dates are written YYYY-MM-DD.
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
  /** Made when it is first needed: it takes 5 ms, and few reports are by hour. */
  let hours: Intl.DateTimeFormat | undefined;
  /** The day that was asked for last, because records come in their order: formatting takes 1 µs. */
  let last = { day: "", from: 0, to: 0 };

  function startOf(day: string, offset = 0): number {
    const wanted = UTC_CALENDAR.dayOf(Date.parse(day) + offset * DAY_MS);
    const middle = Date.parse(wanted);
    // Not midnight: where the clocks go forward then, the day starts at one.
    let [before, after] = [middle - MAX_OFFSET_MS, middle + MAX_OFFSET_MS];
    while (after - before > 1) {
      const time = Math.floor((before + after) / 2);
      if (format.format(time) < wanted) before = time;
      else after = time;
    }
    return after;
  }

  function dayOf(time: number): string {
    if (time >= last.from && time < last.to) return last.day;
    const day = format.format(time);
    last = { day, from: startOf(day), to: startOf(day, 1) };
    return day;
  }

  /** The quarter of an hour that was asked for last: clocks are ahead of UTC by whole quarters. */
  let quarter = { number: NaN, hour: "" };

  return {
    zone: format.resolvedOptions().timeZone,
    startOf,
    dayOf,
    hourOf(time) {
      const number = Math.floor(time / QUARTER_MS);
      hours ??= new Intl.DateTimeFormat("en-CA", { timeZone: zone, hour: "2-digit", hourCycle: "h23" });
      if (number !== quarter.number)
        quarter = { number, hour: `${dayOf(time)} ${hours.format(time).padStart(2, "0")}:00` };
      return quarter.hour;
    },
  };
}

/** Returns the day `count` days later, whatever the time zone. */
export function addDays(day: string, count: number): string {
  return UTC_CALENDAR.dayOf(Date.parse(day) + count * DAY_MS);
}

/** Returns the Monday of a day's week (ISO 8601). */
export function mondayOf(day: string): string {
  return addDays(day, -((new Date(day).getUTCDay() + 6) % 7));
}

/** Returns the first day of the month that is `offset` months after that of a day, or after a month (`YYYY-MM`). */
export function monthStart(day: string, offset = 0): string {
  const [year = 0, month = 1] = day.split("-").map(Number);
  return UTC_CALENDAR.dayOf(Date.UTC(year, month - 1 + offset, 1));
}
