import { getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import type { AST } from "toml-eslint-parser";
import { DocumentError, type ResolvedPath } from "./format-editor.ts";

export type { AST } from "toml-eslint-parser";

/** A `key = value` line, at the top level or in a table with a header. */
interface Line {
  /** Path of the table that contains it. */
  tablePath: ResolvedPath;
  /** Path of its value. */
  path: ResolvedPath;
  node: AST.TOMLKeyValue;
}

/** The lines and table headers of a document. */
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
  const atTop = parts.filter((part) => part.type === "TOMLKeyValue").map((node) => toLine([], node));
  const below = tables.flatMap((table) => table.body.map((node) => toLine(table.resolvedKey, node)));
  return { lines: [...atTop, ...below], tables };
}

/** Returns the node of a value; null when the value is spread over several lines or tables. */
export function findValueNode(tree: TomlTree, path: ResolvedPath): AST.TOMLContentNode | null {
  for (const line of tree.lines) {
    if (!startsWith(path, line.path)) continue;
    const node = descend(line.node.value, path.slice(line.path.length));
    if (node !== null) return node;
  }
  return null;
}

/** Returns the table whose header names exactly this path. */
export function findTable({ tables }: TomlTree, path: ResolvedPath): AST.TOMLTable | undefined {
  return tables.find(({ resolvedKey: key }) => key.length === path.length && startsWith(key, path));
}

/** Returns all headers and lines that define the value at `path`, in text order. */
export function findEntries(tree: TomlTree, path: ResolvedPath): (AST.TOMLTable | AST.TOMLKeyValue)[] {
  const tables = tree.tables.filter(({ resolvedKey }) => startsWith(resolvedKey, path));
  const lines = tree.lines.filter((line) => startsWith(line.path, path)).map(({ node }) => node);
  return [...tables, ...lines].sort((one, other) => one.range[0] - other.range[0]);
}

export function startsWith(path: ResolvedPath, prefix: ResolvedPath): boolean {
  return prefix.every((step, i) => path[i] === step);
}

function parse(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: "1.1" });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new DocumentError(`not TOML: ${error.message.toLowerCase()}`, error.index);
  }
}

function toLine(tablePath: ResolvedPath, node: AST.TOMLKeyValue): Line {
  return { tablePath, path: [...tablePath, ...keyNames(node.key)], node };
}

/** Returns the names that a dotted key consists of. */
export function keyNames(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
}

/** Follows the rest of a path through inline tables and lists. */
function descend(node: AST.TOMLContentNode, path: ResolvedPath): AST.TOMLContentNode | null {
  const [step] = path;
  if (step === undefined) return node;
  if (node.type === "TOMLArray") {
    const item = typeof step === "number" ? node.elements[step] : undefined;
    return item === undefined ? null : descend(item, path.slice(1));
  }
  if (node.type !== "TOMLInlineTable") return null;
  for (const member of node.body) {
    const names = keyNames(member.key);
    const found = startsWith(path, names) ? descend(member.value, path.slice(names.length)) : null;
    if (found !== null) return found;
  }
  return null;
}
