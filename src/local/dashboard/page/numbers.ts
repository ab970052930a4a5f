const COUNT = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** For axes, such as `1.2M`. */
export function formatCompact(count: number): string {
  return COMPACT.format(count);
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
  const small = dollars !== 0 && Math.abs(dollars) < 1;
  const digits = small
    ? { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }
    : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return new Intl.NumberFormat(undefined, { style: "currency", currency: "USD", ...digits }).format(dollars);
}

export function formatSeconds(ms: number): string {
  return `${COUNT.format(Math.round(ms / 100) / 10)} s`;
}

/** Local date and time. */
export function formatTime(iso: string): string {
  return new Date(iso).toLocaleString();
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** Local time of today; with the date otherwise. */
export function formatMoment(iso: string): string {
  const time = new Date(iso);
  return (time.toDateString() === new Date().toDateString() ? TIME : MOMENT).format(time);
}
