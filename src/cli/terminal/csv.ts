import { toPrintable } from "../../core/text/printable.ts";

/** Returns a line of CSV (RFC 4180) without its end, which is CRLF. */
export function csvLine(cells: readonly string[]): string {
  return cells.map(csvCell).join(",");
}

/**
 * Escapes a cell. A leading apostrophe keeps spreadsheets from evaluating a name as a formula (OWASP, "CSV Injection");
 * quotes keep those that separate by semicolons from finding a second cell in it.
 */
function csvCell(text: string): string {
  const escaped = toPrintable(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return /[",;]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}
