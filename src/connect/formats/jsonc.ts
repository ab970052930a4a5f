import type { FormatEditor } from "./format-editor.ts";
import { addToContainer, createTopObject, removeEntry } from "./jsonc-edits.ts";
import { findNode, parseText, toValue } from "./jsonc-library.ts";
import { printLike, printMember } from "./jsonc-print.ts";
import { detectLineEnding, indentFollowingLines, readIndent } from "./text-edits.ts";

/**
 * Accepts JSON with comments and trailing commas. Writes strict JSON (RFC 8259) into a file that is strict, so that it stays valid
 * for a tool that parses it strictly.
 */
export const jsonc: FormatEditor = createEditor(false);

/** The same for a file in which the order of an object's members counts: a new one comes last. */
export const orderedJsonc: FormatEditor = createEditor(true);

function createEditor(isOrdered: boolean): FormatEditor {
  return {
    read(text) {
      const top = parseText(text);
      return top === undefined ? {} : (toValue(top) as Record<string, unknown>);
    },
    find(text, path) {
      const { offset, length } = findNode(text, path);
      return { offset, length };
    },
    replace(text, path, value) {
      const node = findNode(text, path);
      const { offset, length } = node;
      const indent = readIndent(text, offset);
      const printed = indentFollowingLines(printLike(text, node, value), indent, detectLineEnding(text));
      return { offset, length, text: printed };
    },
    add(text, path, name, value) {
      if (parseText(text) === undefined) return createTopObject(text, name, value);
      const container = findNode(text, path);
      return addToContainer(
        text,
        container,
        printMember(text, name, printLike(text, container, value)),
        isOrdered,
      );
    },
    append(text, path, value) {
      const container = findNode(text, path);
      return addToContainer(text, container, printLike(text, container, value), isOrdered);
    },
    remove(text, path) {
      const node = findNode(text, path);
      return removeEntry(text, node.parent?.type === "property" ? node.parent : node);
    },
  };
}
