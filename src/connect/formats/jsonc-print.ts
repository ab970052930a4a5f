import type { Node } from "jsonc-parser";
import type { Value } from "../../tools/setting.ts";

/** Prints a value in the style around `node`: on one line if that is on one line, else on several. Lines end in `\n`. */
export function printLike(text: string, node: Node, value: Value | null): string {
  return isOnOneLine(text, node)
    ? printInline(text, value)
    : JSON.stringify(value, null, detectIndentUnit(text));
}

/** Prints `"name": value`. */
export function printMember(text: string, name: string, printed: string): string {
  return `${JSON.stringify(name)}:${isCompact(text) ? "" : " "}${printed}`;
}

/** True when a container and its content are on one line. For an empty container the nearest one that is not decides. */
export function isOnOneLine(text: string, node: Node): boolean {
  const isContainer = node.type === "object" || node.type === "array";
  if (isContainer && (node.children ?? []).length > 0) return !sliceNode(text, node).includes("\n");
  if (sliceNode(text, node).includes("\n")) return false;
  return node.parent === undefined ? !isContainer : isOnOneLine(text, node.parent);
}

/** Returns one step of indentation: that of the first indented line, or two spaces. */
export function detectIndentUnit(text: string): string {
  return /^([ \t]+)["{[]/m.exec(text)?.[1] ?? "  ";
}

function sliceNode(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

/** True when the file has no space between a colon and the value. */
export function isCompact(text: string): boolean {
  return /":\S/.test(text) && !/":\s/.test(text);
}

/** Prints `{"a": 1, "b": [2]}`, or without spaces in a compact file. */
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
