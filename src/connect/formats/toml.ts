import type { AST } from "toml-eslint-parser";
import type { Value } from "../../tools/setting.ts";
import { DocumentError, type FormatEditor, type ResolvedPath } from "./format-editor.ts";
import type { Edit } from "./text-edits.ts";
import {
  addInline,
  addToDotted,
  addToTable,
  addRootKey,
  appendBlock,
  removeEntries,
  removeInline,
} from "./toml-edits.ts";
import { isTable, printHeader, printInline, printMember, printTable } from "./toml-print.ts";
import { findEntries, parseText, readToml, startsWith, findTable, findValueNode } from "./toml-tree.ts";
import type { TomlTree } from "./toml-tree.ts";

/** Writes TOML 1.0 (https://toml.io/en/v1.0.0), reads TOML 1.1 too. */
export const toml: FormatEditor = {
  read: readToml,
  find(text, path) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node !== null) return { offset: node.range[0], length: node.range[1] - node.range[0] };
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
      throw new DocumentError("this is a table, where a single value is to be", offset);
    }
    const isLiteral = "style" in node && node.style === "literal";
    return {
      offset: node.range[0],
      length: node.range[1] - node.range[0],
      text: printInline(value, isLiteral),
    };
  },
  add(text, path, name, value) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node !== null) return addInline(node, printMember([name], value));
    // A header below an item of a list would refer to the last item.
    const isInList = path.some((step) => typeof step === "number");
    if (isTable(value) && !isInList) return appendBlock(text, printTable([...path.map(String), name], value));
    return addMember(text, tree, path, name, value);
  },
  append(text, path, value) {
    const tree = parseText(text);
    const node = findValueNode(tree, path);
    if (node !== null) return addInline(node, printInline(value));
    if (!isTable(value))
      throw new DocumentError("this is a list of tables", findEntries(tree, path)[0]?.range[0] ?? null);
    return appendBlock(text, printTable(path.map(String), value, printHeader(path.map(String), "array")));
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

function addMember(text: string, tree: TomlTree, path: ResolvedPath, name: string, value: Value): Edit {
  if (path.length === 0) return addRootKey(text, tree, printMember([name], value));
  const table = findTable(tree, path);
  if (table !== null) return addToTable(text, table, printMember([name], value));
  const dotted = findDottedLine(tree, path);
  if (dotted !== null) return addToDotted(text, dotted, path, name, value);
  return appendBlock(text, [printHeader(path.map(String), "standard"), printMember([name], value)]);
}

/** Returns the last line that defines the table at `path` with a dotted key, from a table above it. */
function findDottedLine(tree: TomlTree, path: ResolvedPath): AST.TOMLKeyValue | null {
  const lines = tree.lines.filter(
    (line) => line.tablePath.length < path.length && startsWith(line.path, path),
  );
  return lines.at(-1)?.node ?? null;
}
