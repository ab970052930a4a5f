import { getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import type { AST } from "toml-eslint-parser";
import { TextFault } from "./language.ts";
import type { Path } from "./language.ts";

/** A line `key = value`, at the top or in a table with a header. */
interface Line {
  /** Of the table that it stands in. */
  tablePath: Path;
  /** Of its value. */
  path: Path;
  node: AST.TOMLKeyValue;
}

/** A text's parts, with the path of each. */
export interface TomlTree {
  lines: readonly Line[];
  tables: readonly AST.TOMLTable[];
}

export function readToml(text: string): Record<string, unknown> {
  return getStaticTOMLValue(parse(text));
}

export function parseText(text: string): TomlTree {
  const parts = parse(text).body[0].body;
  const tables = parts.filter((part) => part.type === "TOMLTable");
  const atTop = parts.filter((part) => part.type === "TOMLKeyValue").map((node) => lineOf([], node));
  const below = tables.flatMap((table) => table.body.map((node) => lineOf(table.resolvedKey, node)));
  return { lines: [...atTop, ...below], tables };
}

/** What a value is written as by itself; null where it is spread over lines and tables. */
export function valueNodeAt(tree: TomlTree, path: Path): AST.TOMLContentNode | null {
  for (const line of tree.lines) {
    if (!startsWith(path, line.path)) continue;
    const node = descend(line.node.value, path.slice(line.path.length));
    if (node !== null) return node;
  }
  return null;
}

/** The table whose header says this path, without those below it. */
export function tableAt(tree: TomlTree, path: Path): AST.TOMLTable | null {
  return tree.tables.find(({ resolvedKey }) => isSame(resolvedKey, path)) ?? null;
}

/** Everything that makes up the value at `path`: headers and lines, in the order of the text. */
export function entriesBelow(tree: TomlTree, path: Path): (AST.TOMLTable | AST.TOMLKeyValue)[] {
  const tables = tree.tables.filter(({ resolvedKey }) => startsWith(resolvedKey, path));
  const lines = tree.lines.filter((line) => startsWith(line.path, path)).map(({ node }) => node);
  return [...tables, ...lines].sort((one, other) => one.range[0] - other.range[0]);
}

export function startsWith(path: Path, beginning: Path): boolean {
  return beginning.every((step, i) => path[i] === step);
}

function isSame(one: Path, other: Path): boolean {
  return one.length === other.length && startsWith(one, other);
}

function parse(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: "1.1" });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new TextFault(`not TOML: ${error.message.toLowerCase()}`, error.index);
  }
}

function lineOf(tablePath: Path, node: AST.TOMLKeyValue): Line {
  return { tablePath, path: [...tablePath, ...namesOf(node.key)], node };
}

function namesOf(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
}

/** Further down, in inline tables and lists. */
function descend(node: AST.TOMLContentNode, path: Path): AST.TOMLContentNode | null {
  const [step] = path;
  if (step === undefined) return node;
  if (node.type === "TOMLArray") {
    const item = typeof step === "number" ? node.elements[step] : undefined;
    return item === undefined ? null : descend(item, path.slice(1));
  }
  if (node.type !== "TOMLInlineTable") return null;
  for (const member of node.body) {
    const names = namesOf(member.key);
    const found = startsWith(path, names) ? descend(member.value, path.slice(names.length)) : null;
    if (found !== null) return found;
  }
  return null;
}
