import { sanitizeText } from "../../core/config/problem.ts";

/** Made when it is first needed, because loading the rules of languages takes 5 ms. */
let format: Intl.NumberFormat | undefined;

/** Returns e.g. `1,204.5`. */
export function formatNumber(value: number): string {
  format ??= new Intl.NumberFormat("en-US");
  return format.format(value);
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
