import type { AST } from "toml-eslint-parser";
import type { Value } from "../../tools/setting.ts";
import { TextFault } from "./language.ts";
import type { Edit, Language, Path } from "./language.ts";
import {
  addInline,
  addToDotted,
  addToTable,
  addRootKey,
  appendBlock,
  cutEntries,
  cutInline,
} from "./toml-edits.ts";
import { isTable, printHeader, printInline, printMember, printTable } from "./toml-print.ts";
import { entriesBelow, parseText, readToml, startsWith, tableAt, valueNodeAt } from "./toml-tree.ts";
import type { TomlTree } from "./toml-tree.ts";

/** TOML 1.0 (https://toml.io/en/v1.0.0); files in TOML 1.1 are read, too. */
export const toml: Language = {
  read: readToml,
  find(text, path) {
    const tree = parseText(text);
    const node = valueNodeAt(tree, path);
    if (node !== null) return { offset: node.range[0], length: node.range[1] - node.range[0] };
    const below = entriesBelow(tree, path);
    const offset = Math.min(...below.map(({ range }) => range[0]));
    const end = Math.max(...below.map(({ range }) => range[1]));
    if (below.length === 0) throw new TextFault("there is no such setting", null);
    return { offset, length: end - offset };
  },
  replace(text, path, value) {
    const tree = parseText(text);
    const node = valueNodeAt(tree, path);
    if (node === null) {
      const offset = entriesBelow(tree, path)[0]?.range[0] ?? null;
      throw new TextFault("this is a table, where a single value is to be", offset);
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
    const node = valueNodeAt(tree, path);
    if (node !== null) return addInline(node, printMember([name], value));
    // Below an item of a list a header would speak of the last item.
    const isInList = path.some((step) => typeof step === "number");
    if (isTable(value) && !isInList) return appendBlock(text, printTable([...path.map(String), name], value));
    return addMember(text, tree, path, name, value);
  },
  append(text, path, value) {
    const tree = parseText(text);
    const node = valueNodeAt(tree, path);
    if (node !== null) return addInline(node, printInline(value));
    if (!isTable(value))
      throw new TextFault("this is a list of tables", entriesBelow(tree, path)[0]?.range[0] ?? null);
    return appendBlock(text, printTable(path.map(String), value, printHeader(path.map(String), "array")));
  },
  remove(text, path) {
    const tree = parseText(text);
    const node = valueNodeAt(tree, path);
    if (node === null) return cutEntries(text, entriesBelow(tree, path));
    const { parent } = node;
    if (parent.type !== "TOMLKeyValue") return cutInline(text, node);
    return parent.parent.type === "TOMLInlineTable" ? cutInline(text, parent) : cutEntries(text, [parent]);
  },
};

function addMember(text: string, tree: TomlTree, path: Path, name: string, value: Value): Edit {
  if (path.length === 0) return addRootKey(text, tree, printMember([name], value));
  const table = tableAt(tree, path);
  if (table !== null) return addToTable(text, table, printMember([name], value));
  const dotted = dottedBelow(tree, path);
  if (dotted !== null) return addToDotted(text, dotted, path, name, value);
  return appendBlock(text, [printHeader(path.map(String), "standard"), printMember([name], value)]);
}

/** The last line which opens the table at `path` by a dotted key, from a table further up. */
function dottedBelow(tree: TomlTree, path: Path): AST.TOMLKeyValue | null {
  const lines = tree.lines.filter(
    (line) => line.tablePath.length < path.length && startsWith(line.path, path),
  );
  return lines.at(-1)?.node ?? null;
}
