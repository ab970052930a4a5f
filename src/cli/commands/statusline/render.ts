import { toPrintable } from "../../../core/text/printable.ts";

/** What a format can show. Empty where there is nothing to show. */
export const VALUES = [
  "session",
  "today",
  "cache",
  "budget",
  "limit",
  "limits",
  "failing",
  "paused",
  "unpriced",
  "model",
  "directory",
] as const;
export type Values = Readonly<Record<(typeof VALUES)[number], string>>;

/** Select Graphic Rendition (ECMA-48, section 8.3.117). */
const STYLES: Readonly<Record<string, number>> = {
  reset: 0,
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
};

/** The usual line: `$0.420 session · $3.10 today · 87% cached · budget 62% spent`. */
export const DEFAULT_FORMAT =
  "{failing: |failing| · }{paused: |paused| · }{|session| session · }{today} today{ · |cache| cached}{ · budget |budget| spent}{ · without a price: |unpriced|}";

/** `{NAME}`, or `{BEFORE|NAME|AFTER}`. */
const PLACEHOLDER = /\{(?:([^{}|]*)\|)?([a-z]+)(?:\|([^{}|]*))?\}/g;

/** Returns the first name in a format that is no placeholder; null when there is none. */
export function findUnknownName(format: string): string | null {
  for (const [, , name = ""] of format.matchAll(PLACEHOLDER))
    if (!Object.hasOwn(STYLES, name) && !(VALUES as readonly string[]).includes(name)) return name;
  return null;
}

/**
 * Fills in a format, in one line. `{BEFORE|NAME|AFTER}` is empty where the value is. A name that is not known stays as it is, so that the
 * mistake is seen. Styles are left out unless `hasStyles`. Control characters in values are escaped (SECURITY.md E3).
 */
export function render(format: string, values: Values, hasStyles: boolean): string {
  const line = toPrintable(format.replaceAll(/\s+/g, " "));
  return line.replaceAll(PLACEHOLDER, (whole, before: string = "", name: string, after: string = "") => {
    const style = Object.hasOwn(STYLES, name) ? STYLES[name] : undefined;
    if (style !== undefined) return hasStyles ? `\u001B[${style}m` : "";
    if (!Object.hasOwn(values, name)) return whole;
    const value = toPrintable(values[name as keyof Values]);
    return value === "" ? "" : before + value + after;
  });
}
