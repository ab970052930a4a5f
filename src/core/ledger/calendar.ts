/** Days as a person counts them: of the local time zone, or of UTC. Written `YYYY-MM-DD`, so they sort and compare as text. */
export interface Calendar {
  /** The time zone's IANA name, e.g. `Europe/Berlin`, or `UTC`. */
  readonly zone: string;
  /** Returns the day of a wall time in milliseconds since 1970. */
  dayOf(time: number): string;
  /** Returns the wall time at which a day starts, `offset` days later. Days of 23 and 25 hours count as one. */
  startOf(day: string, offset?: number): number;
}

export const UTC_CALENDAR: Calendar = {
  zone: "UTC",
  dayOf: (time) => new Date(time).toISOString().slice(0, 10),
  startOf(day, offset = 0) {
    const [year, month, date] = partsOf(day);
    return Date.UTC(year, month - 1, date + offset);
  },
};

/** Returns the calendar of the time zone that this process runs in. */
export function localCalendar(): Calendar {
  return {
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    dayOf(time) {
      const date = new Date(time);
      const parts = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
      return [String(date.getFullYear()).padStart(4, "0"), ...parts].join("-");
    },
    startOf(day, offset = 0) {
      const [year, month, date] = partsOf(day);
      return new Date(year, month - 1, date + offset).getTime();
    },
  };
}

function partsOf(day: string): [number, number, number] {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return [year, month, date];
}
