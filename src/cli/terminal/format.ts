import { sanitizeText } from "../../core/config/problem.ts";
import { groupDigits } from "../../core/text/group-digits.ts";

/** Returns e.g. `1,204.5`, with three decimals at most. `Intl.NumberFormat` would take 5 ms to load. */
export function formatNumber(value: number): string {
  // Nearly all numbers of a long report are counts.
  if (Number.isSafeInteger(value)) return groupDigits(String(value));
  const [whole = "", decimals] = String(Math.round(value * 1000) / 1000).split(".");
  const grouped = groupDigits(whole);
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** Fills numbers up with spaces, so that their points are below each other where they are aligned to the right. */
export function alignDecimals(numbers: readonly string[]): string[] {
  const decimals = numbers.map((number) => /[.]\d+$/.exec(number)?.[0].length ?? 0);
  const most = Math.max(0, ...decimals);
  return numbers.map((number, at) => (number === "" ? "" : number + " ".repeat(most - (decimals[at] ?? 0))));
}

/** Returns e.g. `1 request` or `1,204 requests`. */
export function pluralize(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns the path with `~` in place of the home directory. */
export function displayPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Returns a location and the name assigned there, e.g. `~/.zshrc:12 (ANTHROPIC_API_KEY)`. The name may be any text. */
export function displayLocation(location: string, name: string | null): string {
  return name === null ? location : `${location} (${sanitizeText(name)})`;
}

/** Returns a line of a report: a label, padded to a column, and what it labels. */
export function labelledLine(label: string, text: string): string {
  return `${label.padEnd(11)} ${text}`;
}
