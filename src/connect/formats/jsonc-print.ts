import type { Value } from "../../tools/setting.ts";
import type { Node } from "./jsonc-library.ts";

/** Prints a value on one line if `node` is on one line, otherwise on several, which end in `\n`. */
export function printLike(text: string, node: Node, value: Value | null): string {
  return isOnOneLine(text, node)
    ? printInline(text, value)
    : JSON.stringify(value, null, detectIndentUnit(text));
}

/** Prints `"name": value`. */
export function printMember(text: string, name: string, printed: string): string {
  return `${JSON.stringify(name)}:${isCompact(text) ? "" : " "}${printed}`;
}

/** True when a container is on one line. For an empty container, the nearest container that is not empty decides. */
export function isOnOneLine(text: string, { type, offset, length, children, parent }: Node): boolean {
  if (text.slice(offset, offset + length).includes("\n")) return false;
  const isContainer = type === "object" || type === "array";
  if (isContainer && (children ?? []).length > 0) return true;
  return parent === undefined ? !isContainer : isOnOneLine(text, parent);
}

/** Returns one step of indentation: that of the first indented line, or two spaces. */
export function detectIndentUnit(text: string): string {
  return /^([ \t]+)["{[]/m.exec(text)?.[1] ?? "  ";
}

/** True when the file has no space between a colon and the value. */
export function isCompact(text: string): boolean {
  return /":\S/.test(text) && !/":\s/.test(text);
}

/** Prints `{"a": 1, "b": [2]}`, or without spaces in a compact file. */
function printInline(text: string, value: Value | null): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const separator = isCompact(text) ? "," : ", ";
  if (Array.isArray(value)) {
    return `[${(value as readonly Value[]).map((item) => printInline(text, item)).join(separator)}]`;
  }
  const members = Object.entries(value).map(([name, below]) =>
    printMember(text, name, printInline(text, below)),
  );
  return `{${members.join(separator)}}`;
}
