import { isObject } from "../../core/json.ts";
import { DocumentError, type FormatEditor } from "./format-editor.ts";
import type { Span } from "./text-edits.ts";
import { addInline, addMember, appendBlock, removeEntries, removeInline } from "./toml-edits.ts";
import { findEntries, findValueNode, parseText, readToml, type AST } from "./toml-library.ts";
import { printHeader, printInline, printMember, printTable } from "./toml-print.ts";

/** Writes TOML 1.0 (https://toml.io/en/v1.0.0), reads TOML 1.1 too. */
export const toml: FormatEditor = {
  read: readToml,
  find(text, path) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node !== null) return spanOf(node);
    const below = findEntries(tree, path);
    const offset = Math.min(...below.map(({ range }) => range[0]));
    const end = Math.max(...below.map(({ range }) => range[1]));
    if (below.length === 0) throw new DocumentError("there is no such setting", null);
    return { offset, length: end - offset };
  },
  replace(text, path, value) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node === null) {
      const offset = findEntries(tree, path)[0]?.range[0] ?? null;
      throw new DocumentError("this is a table, but a single value is expected", offset);
    }
    const isLiteral = "style" in node && node.style === "literal";
    return { ...spanOf(node), text: printInline(value, isLiteral) };
  },
  add(text, path, name, value) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node !== null) return addInline(node, printMember([name], value));
    // A header below an item of a list would refer to the last item.
    const isInList = path.some((step) => typeof step === "number");
    if (isObject(value) && !isInList)
      return appendBlock(text, printTable([...path.map(String), name], value));
    return addMember(text, tree, path, name, value);
  },
  append(text, path, value) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node !== null) return addInline(node, printInline(value));
    if (!isObject(value))
      throw new DocumentError("this is a list of tables", findEntries(tree, path)[0]?.range[0] ?? null);
    const names = path.map(String);
    return appendBlock(text, printTable(names, value, `[${printHeader(names)}]`));
  },
  remove(text, path) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node === null) return removeEntries(text, findEntries(tree, path));
    const { parent } = node;
    if (parent.type !== "TOMLKeyValue") return removeInline(text, node);
    return parent.parent.type === "TOMLInlineTable"
      ? removeInline(text, parent)
      : removeEntries(text, [parent]);
  },
};

function spanOf({ range: [offset, end] }: AST.TOMLContentNode): Span {
  return { offset, length: end - offset };
}
