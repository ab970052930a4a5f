import type { Row } from "../feed-types.ts";
import { dayOf, startOfDay } from "../times.ts";

/** What was spent in some days, in dollars. */
interface Spent {
  usd: number;
  /** False where a part of it is not known, so that it is at least this. */
  isExact: boolean;
}

/** What was spent until now, and what the month will have cost. */
export interface Forecast {
  today: Spent;
  yesterday: Spent;
  month: Spent;
  lastMonth: Spent;
  /** The part of `lastMonth` until the same day of the month, this one included. */
  lastMonthByNow: Spent;
  /** What the month will have cost if it goes on as in the last seven days; null before a day is over, and if they cost nothing. */
  monthAtEnd: number | null;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** A week, so that a weekend is in it as often as in the month. */
const RATE_DAYS = 7;

/** Returns the first day that {@link forecastOf} needs: the first of last month. */
export function firstDayOf(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth() - 1, 1);
}

/** Sums up days, each a row with its `day`, from {@link firstDayOf} on. A rate is that of the days since the first request, at most seven. */
export function forecastOf(rows: readonly Row[], now: Date): Forecast {
  const days = rows
    .flatMap((row) => (typeof row["day"] === "string" ? [{ day: row["day"], row }] : []))
    .toSorted((one, other) => (one.day < other.day ? -1 : 1));
  const spentIn = (from: Date, to: Date) => {
    const found = days.filter(({ day }) => day >= dayOf(from) && day < dayOf(to));
    const usd = found.reduce((sum, { row }) => sum + Number(row.cost_usd), 0);
    return { usd, isExact: found.every(({ row }) => row.cost_is_exact) };
  };
  const monthStart = new Date(now.getFullYear(), now.getMonth(), 1);
  const monthEnd = new Date(now.getFullYear(), now.getMonth() + 1, 1);
  const tomorrow = startOfDay(now, 1);
  const month = spentIn(monthStart, tomorrow);
  const sameDayEnd = new Date(now.getFullYear(), now.getMonth() - 1, now.getDate() + 1);
  const first = new Date(`${days[0]?.day ?? dayOf(now)}T00:00`);
  const rateStart = new Date(Math.max(first.getTime(), startOfDay(now, 1 - RATE_DAYS).getTime()));
  const elapsed = (now.getTime() - rateStart.getTime()) / DAY_MS;
  const rate = elapsed < 1 ? 0 : spentIn(rateStart, tomorrow).usd / elapsed;
  const left = (monthEnd.getTime() - now.getTime()) / DAY_MS;
  return {
    today: spentIn(startOfDay(now), tomorrow),
    yesterday: spentIn(startOfDay(now, -1), startOfDay(now)),
    month,
    lastMonth: spentIn(firstDayOf(now), monthStart),
    lastMonthByNow: spentIn(firstDayOf(now), sameDayEnd < monthStart ? sameDayEnd : monthStart),
    monthAtEnd: rate === 0 ? null : month.usd + rate * left,
  };
}
