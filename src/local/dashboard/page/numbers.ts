const COUNT = new Intl.NumberFormat();
const PERCENT = numberFormat({ style: "percent" });
const COMPACT = numberFormat({ notation: "compact", maximumFractionDigits: 1 });

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** For axes, such as `1.2M`. */
export function formatCompact(count: number): string {
  return COMPACT.format(count);
}

/** From there on, a figure among others is read faster with fewer digits. */
export const LARGE = 1_000_000;

/** Such as `5,769` and `490.4M`, for figures whose last digits say nothing. */
export function formatLarge(count: number): string {
  return count < LARGE ? COUNT.format(count) : COMPACT.format(count);
}

/** The same for figures that are read beside each other: all in one unit, such as `111.5M` and `35.2M`, or else with all digits. */
export function formatAlike(counts: readonly number[]): string[] {
  const units = counts.map(
    (count) => COMPACT.formatToParts(count).find(({ type }) => type === "compact")?.value,
  );
  const isShort = counts.every((count) => count >= LARGE) && new Set(units).size === 1;
  return counts.map((count) => (isShort ? COMPACT : COUNT).format(count));
}

/** Whole percents. Only nothing is `0%`, and only all is `100%`; empty for a share of nothing. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return "";
  const share = part / whole;
  if (part > 0 && share < 0.005) return `<${PERCENT.format(0.01)}`;
  return part < whole && share >= 0.995 ? `>${PERCENT.format(0.99)}` : PERCENT.format(share);
}

/** Cents, or three digits that count below a dollar, so that nothing that was paid is shown as 0. */
export function formatDollars(dollars: number): string {
  const isSmall = dollars !== 0 && Math.abs(dollars) < 1;
  return withMinus((isSmall ? withSignificant(3) : withDecimals(2)).format(dollars));
}

/**
 * The same in a column, whose points stand beneath each other. What would be shown as 0 has its first digit that counts.
 * @param decimals - those of the column; undefined outside of one
 */
export function formatDollarsIn(dollars: number, decimals: number | undefined): string {
  if (decimals === undefined) return formatDollars(dollars);
  const isTiny = dollars !== 0 && Math.abs(dollars) < 0.5 / 10 ** decimals;
  return withMinus((isTiny ? withSignificant(1) : withDecimals(decimals)).format(dollars));
}

/** Formats dollars with so many decimals. */
export function withDecimals(count: number): Intl.NumberFormat {
  return dollarFormat({ minimumFractionDigits: count, maximumFractionDigits: count });
}

function withSignificant(count: number): Intl.NumberFormat {
  return dollarFormat({ minimumSignificantDigits: count, maximumSignificantDigits: count });
}

/** A list has thousands of amounts, and a format takes long to make. */
const dollarFormats = new Map<string, Intl.NumberFormat>();

function dollarFormat(digits: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(digits);
  const format = dollarFormats.get(key) ?? numberFormat({ style: "currency", currency: "USD", ...digits });
  dollarFormats.set(key, format);
  return format;
}

/** As many decimals as a column of dollars has: cents, or what gives the largest of less than a dollar three digits that count. */
export function decimalsOf(dollars: readonly number[]): number {
  const most = dollars.reduce((largest, one) => Math.max(largest, Math.abs(one)), 0);
  return most === 0 || most >= 1 ? 2 : 2 - Math.floor(Math.log10(most));
}

/** For axes: as many digits as the distance of two ticks has, or cents. With fewer, equal distances would look unequal. */
export function formatAxisDollars(dollars: number, step: number): string {
  let digits = 0;
  while (digits < MOST_DIGITS && !isWhole(step * 10 ** digits)) digits += digits === 0 ? 2 : 1;
  return withDecimals(digits).format(dollars);
}

/** What the shortest distance has that is not nothing: a record's dollars have twelve. */
const MOST_DIGITS = 12;

function isWhole(number: number): boolean {
  const nearest = Math.round(number);
  return nearest > 0 && Math.abs(number - nearest) < 1e-6;
}

const CHANGE = numberFormat({ style: "percent", signDisplay: "exceptZero" });

/** From so many times on, a percentage says less than the times. */
const MANY_TIMES = 10;

/** How much more or less than before: `+33%`, `×38` or `−24%`; empty where there was nothing before. */
export function formatChange(now: number, before: number): string {
  if (before === 0) return "";
  const times = now / before;
  return times < MANY_TIMES ? withMinus(CHANGE.format(times - 1)) : `×${formatCount(Math.round(times))}`;
}

/** The same in a sentence: `+33% on yesterday`, or `38 times yesterday`. */
export function describeChange(now: number, before: number, what: string): string {
  const change = formatChange(now, before);
  if (change === "") return "";
  return change.startsWith("×") ? `${change.slice(1)} times ${what}` : `${change} on ${what}`;
}

/** Returns a figure with a minus sign, which is as wide as a plus sign; a hyphen is not. */
function withMinus(figure: string): string {
  return figure.replace("-", "−");
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Such as `12 kB`, in decimal units. */
export function formatBytes(bytes: number): string {
  const at = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return numberFormat({
    style: "unit",
    unit: UNITS[at] ?? "byte",
    maximumFractionDigits: at < 2 ? 0 : 1,
  }).format(bytes / 1_000 ** at);
}

const SECONDS = numberFormat({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
/** From there on, tenths of a second say nothing. */
const LONG_MS = 100_000;
const SHORTEST_MS = 100;

/** Such as `2.0 s`, so that the figures of a column stand below each other; `<0.1 s` where that is all that can be said, and `5 min 8 s`. */
export function formatSeconds(ms: number): string {
  if (ms < SHORTEST_MS) return `<${SECONDS.format(SHORTEST_MS / 1_000)} s`;
  if (ms < LONG_MS) return `${SECONDS.format(ms / 1_000)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${COUNT.format(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}

const DAY_OF_YEAR = dateFormat({ month: "short", day: "numeric" });
const DAY = dateFormat({ dateStyle: "medium" });
const TIME = dateFormat({ timeStyle: "medium" });

const TIME_OF_DAY = dateFormat({ timeStyle: "short" });

/** Local time, to the minute. */
export function formatTimeOfDay(iso: string): string {
  return TIME_OF_DAY.format(new Date(iso));
}

const NEAR_DAY = dateFormat({ weekday: "short", month: "short", day: "numeric" });
const DAY_NAMES = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

/** Returns a local time to the minute, with its day apart, which is empty for today. For times that are near, so without a year. */
export function nearParts(iso: string): readonly [day: string, time: string] {
  const time = new Date(iso);
  const day = nameDay(time);
  return [day === "" ? "" : `${day}, `, TIME_OF_DAY.format(time)];
}

/** The same as a text. */
export function formatNear(iso: string): string {
  return nearParts(iso).join("");
}

/** Empty for today; `yesterday`, `tomorrow`, or a day such as `Fri, Nov 27`. */
function nameDay(time: Date): string {
  for (const days of [0, 1, -1]) {
    const day = new Date();
    day.setDate(day.getDate() + days);
    if (day.toDateString() === time.toDateString()) return days === 0 ? "" : DAY_NAMES.format(days, "day");
  }
  return NEAR_DAY.format(time);
}

/** `today`, in the reader's language. */
export function nameToday(): string {
  return DAY_NAMES.format(0, "day");
}

const WEEKDAY = dateFormat({ weekday: "long", month: "long", day: "numeric" });

/** Returns a local day, such as `2026-11-27`, as a heading: `today`, `yesterday`, `Friday, November 27`. */
export function nameDayWholly(day: string): string {
  const time = new Date(`${day}T00:00`);
  const name = nameDay(time);
  if (name === "") return nameToday();
  return name === NEAR_DAY.format(time) ? WEEKDAY.format(time) : name;
}

/** Returns a local day, such as `2026-10-27`, in few words: `today`, `yesterday`, `Oct 27`, with the year where that is not this one. */
export function formatDay(day: string): string {
  const time = new Date(`${day}T00:00`);
  const name = nameDay(time);
  if (name === "") return DAY_NAMES.format(0, "day");
  if (name !== NEAR_DAY.format(time)) return name;
  return (time.getFullYear() === new Date().getFullYear() ? DAY_OF_YEAR : DAY).format(time);
}

/** Returns a local time to the second, with its day apart, which is empty for today; with the year where that is not this one. */
export function momentParts(iso: string): readonly [day: string, time: string] {
  const [time, now] = [new Date(iso), new Date()];
  if (time.toDateString() === now.toDateString()) return ["", TIME.format(time)];
  const day = time.getFullYear() === now.getFullYear() ? DAY_OF_YEAR : DAY;
  return [`${day.format(time)}, `, TIME.format(time)];
}

/** The same as a text. */
export function formatMoment(iso: string): string {
  return momentParts(iso).join("");
}

/** Formats numbers as the reader's language does. */
export function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return new Intl.NumberFormat(undefined, options);
}

/** Formats times as the reader's language does, in the reader's time zone. */
export function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(undefined, options);
}
