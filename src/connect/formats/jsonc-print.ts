import type { Node } from "jsonc-parser";
import type { Value } from "../../tools/setting.ts";

/** A value as the file would write it: over several lines, unless what surrounds it stands on one. Lines end in `\n`. */
export function printFor(text: string, node: Node, value: Value | null): string {
  return isOnOneLine(text, node) ? printInline(text, value) : JSON.stringify(value, null, unitOf(text));
}

/** `"name": value`. */
export function memberOf(text: string, name: string, printed: string): string {
  return `${JSON.stringify(name)}:${isCompact(text) ? "" : " "}${printed}`;
}

/** Does it stand on one line with what it is part of? An empty one is asked for the nearest that is not. */
export function isOnOneLine(text: string, node: Node): boolean {
  const isContainer = node.type === "object" || node.type === "array";
  if (isContainer && (node.children ?? []).length > 0) return !sourceOf(text, node).includes("\n");
  if (sourceOf(text, node).includes("\n")) return false;
  return node.parent === undefined ? !isContainer : isOnOneLine(text, node.parent);
}

/** One step of indentation: that of the first line that is moved in, or two spaces. */
export function unitOf(text: string): string {
  return /^([ \t]+)["{[]/m.exec(text)?.[1] ?? "  ";
}

function sourceOf(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

/** No blank between a key's colon and its value. */
export function isCompact(text: string): boolean {
  return /":\S/.test(text) && !/":\s/.test(text);
}

/** `{"a": 1, "b": [2]}`, or without blanks where the file has none. */
function printInline(text: string, value: Value | null): string {
  const gap = isCompact(text) ? "" : " ";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${(value as readonly Value[]).map((item) => printInline(text, item)).join(`,${gap}`)}]`;
  }
  const members = Object.entries(value).map(
    ([name, below]) => `${JSON.stringify(name)}:${gap}${printInline(text, below)}`,
  );
  return `{${members.join(`,${gap}`)}}`;
}
