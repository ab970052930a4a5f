import { Scalar, stringify } from "yaml";
import type { Value } from "../../tools/setting.ts";

/** How a string is quoted. */
export type Quote = "plain" | "single" | "double" | null;

/** As the scalar has it now, so that what takes its place has it, too. */
export function quoteOf(scalar: Scalar): Quote {
  if (scalar.type === Scalar.PLAIN) return "plain";
  if (scalar.type === Scalar.QUOTE_SINGLE) return "single";
  return scalar.type === Scalar.QUOTE_DOUBLE ? "double" : null;
}

/** The lines of a map or list, so that readers of YAML 1.1 take them for the same. */
export function printBlock(text: string, value: Value): string[] {
  const indents = [...text.matchAll(/^( {2,8})[^\s#]/gm)].map(([, spaces = ""]) => spaces.length);
  const indent = Math.min(...indents, indents.length === 0 ? 2 : 8);
  return stringify(value, { lineWidth: 0, indent, compat: "yaml-1.1" }).trimEnd().split("\n");
}

/** On one line, as JSON has it: every YAML reader takes that (YAML 1.2.2 section 1.2). */
export function printFlow(value: Value | null): string {
  if (typeof value !== "object" || value === null) return printScalar(value, null);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(printFlow).join(", ")}]`;
  const members = Object.entries(value).map(
    ([name, below]) => `${printScalar(name, null)}: ${printFlow(below)}`,
  );
  return `{${members.join(", ")}}`;
}

/** As the one before was quoted; plain where nobody could take it for something else. */
export function printScalar(value: Value | null, quote: Quote): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const plain = quote === "plain" ? /^[A-Za-z](?:[\w./-]|:(?=[\w/]))*$/ : /^[A-Za-z][\w.-]*$/;
  if ((quote === null || quote === "plain") && plain.test(value) && !RESERVED.test(value)) return value;
  if (quote === "single" && /^[^\p{Cc}]*$/u.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value);
}

/** Words that are no strings to a reader of YAML 1.1 (https://yaml.org/type/bool.html) or 1.2. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
