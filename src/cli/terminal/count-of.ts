/** Groups digits by commas. */
export const NUMBERS = new Intl.NumberFormat("en-US");

/** `1 request`, `1,204 requests`. */
export function countOf(count: number, noun: string): string {
  return `${NUMBERS.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}
