import type { Value } from "../../tools/setting.ts";
import { stringify } from "./yaml-library.ts";

/** Returns the lines of a map or list in block style, which a YAML 1.1 parser reads the same way. */
export function printBlock(text: string, value: Value): string[] {
  const indents = [...text.matchAll(/^( {2,8})[^\s#]/gm)].map(([, spaces = ""]) => spaces.length);
  const indent = Math.min(...indents, indents.length === 0 ? 2 : 8);
  return stringify(value, { lineWidth: 0, indent, compat: "yaml-1.1" }).trimEnd().split("\n");
}

/** Prints a value on one line as JSON, which every YAML parser accepts (YAML 1.2.2 section 1.2). */
export function printFlow(value: Value | null): string {
  if (typeof value !== "object" || value === null) return printScalar(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(printFlow).join(", ")}]`;
  const members = Object.entries(value).map(([name, below]) => `${printScalar(name)}: ${printFlow(below)}`);
  return `{${members.join(", ")}}`;
}

/**
 * Prints a scalar; unquoted only where no parser could take it for another type.
 * @param style the `type` of the scalar that it replaces
 */
export function printScalar(value: Value | null, style?: string): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isQuoted = style === "QUOTE_SINGLE" || style === "QUOTE_DOUBLE";
  const plain = style === "PLAIN" ? /^[A-Za-z](?:[\w./-]|:(?=[\w/]))*$/ : /^[A-Za-z][\w.-]*$/;
  if (!isQuoted && plain.test(value) && !RESERVED.test(value)) return value;
  if (style === "QUOTE_SINGLE" && /^[^\p{Cc}]*$/u.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value);
}

/** Words that a YAML 1.1 (https://yaml.org/type/bool.html) or 1.2 parser does not read as strings. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
