import { toPrintable } from "./printable.ts";

/**
 * Parses CSV (RFC 4180): quoted cells may hold separators, line ends and doubled quotes. Lines end in CRLF or LF; empty ones are left
 * out, and so is a byte order mark. The separator is the one of comma, semicolon and tab that the first line has most of.
 */
export function parseCsv(text: string): string[][] {
  const body = text.replace(/^\uFEFF/, "");
  const separator = findSeparator(body);
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < body.length) {
    const { cell, end } = readCell(body, at, separator);
    row.push(cell);
    at = end + 1;
    if (body[end] === separator) {
      // The last line may end with a separator.
      if (at === body.length) row.push("");
      else continue;
    }
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

function findSeparator(text: string): string {
  const first = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  const counts = [",", ";", "\t"].map((separator) => ({ separator, count: first.split(separator).length }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best)).separator;
}

/** Reads the cell at `start`. `end` is where its separator or line feed is, or the length of the text. */
function readCell(text: string, start: number, separator: string): { cell: string; end: number } {
  let cell = "";
  let at = start;
  if (text[at] === '"') {
    for (at += 1; at < text.length; at += 1) {
      if (text[at] !== '"') cell += text[at];
      else if (text[at + 1] === '"') cell += text[(at += 1)];
      else break;
    }
    at += 1;
  }
  const rest = at;
  while (at < text.length && text[at] !== separator && text[at] !== "\n") at += 1;
  return { cell: cell + text.slice(rest, at).replace(/\r$/, ""), end: at };
}

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
