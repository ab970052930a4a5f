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

/** Breaks text between words into lines of at most so many characters. Not for commands, which could not be copied any more. */
export function wrapWords(text: string, width: number): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && longer.length > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n");
}
