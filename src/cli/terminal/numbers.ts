const FORMAT = new Intl.NumberFormat("en-US");

/** Returns e.g. `1,204.5`. */
export function formatNumber(value: number): string {
  return FORMAT.format(value);
}

/** Returns e.g. `1 request` or `1,204 requests`. */
export function pluralize(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}
