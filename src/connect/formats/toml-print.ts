import { isObject } from "../../core/json.ts";
import type { Value } from "../../tools/setting.ts";
import { DocumentError } from "./format-editor.ts";

/** Prints `[a.b]`. */
export function printHeader(names: readonly string[]): string {
  return `[${names.map(printKey).join(".")}]`;
}

/**
 * Returns the lines of a table and its subtables.
 * @param header null for the standard header, which a table with nothing but subtables does not need
 */
export function printTable(
  names: readonly string[],
  value: { readonly [name: string]: Value },
  header: string | null = null,
): string[] {
  const members = Object.entries(value);
  const own = members
    .filter(([, below]) => !isObject(below))
    .map(([name, below]) => printMember([name], below));
  const tables = members.flatMap(([name, below]) =>
    isObject(below) ? [printTable([...names, name], below)] : [],
  );
  const needsHeader = header !== null || own.length > 0 || tables.length === 0;
  const first = needsHeader ? [[header ?? printHeader(names), ...own]] : [];
  return [...first, ...tables].flatMap((lines, i) => (i === 0 ? lines : ["", ...lines]));
}

/** Prints `a.b = value`. */
export function printMember(names: readonly string[], value: Value): string {
  return `${names.map(printKey).join(".")} = ${printInline(value)}`;
}

/** Prints a value on one line. With `isLiteral`, strings are in single quotes where TOML allows it. */
export function printInline(value: Value | null, isLiteral = false): string {
  if (value === null) throw new DocumentError("TOML has no null", null);
  if (typeof value === "string") return printString(value, isLiteral);
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value))
    return `[${(value as readonly Value[]).map((item) => printInline(item)).join(", ")}]`;
  const members = Object.entries(value).map(([name, below]) => printMember([name], below));
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function printKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : printString(name, false);
}

/** TOML has JSON's escapes, and requires DEL to be escaped too. */
function printString(value: string, isLiteral: boolean): string {
  if (isLiteral && /^[^'\p{Cc}]*$/u.test(value)) return `'${value}'`;
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}
