import { isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq } from "yaml";
import type { Document, Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import type { Value } from "../../tools/setting.ts";
import { endOfLine, lineEndOf, TextFault } from "./language.ts";
import type { Edit, Language, Path } from "./language.ts";
import { printBlock, printFlow, printScalar, quoteOf } from "./yaml-print.ts";
import { columnOf, cutEntry, endOf, rangeOf, trimmedEnd } from "./yaml-spans.ts";
import { parseText, readYaml } from "./yaml-read.ts";

/** YAML 1.2 (https://yaml.org/spec/1.2.2/), one document in a file; one that names version 1.1 is read as such. */
export const yaml: Language = {
  read: readYaml,
  find(text, path) {
    const node = nodeAt(parseText(text), path);
    const [offset] = rangeOf(node);
    return { offset, length: trimmedEnd(text, endOf(node)) - offset };
  },
  replace(text, path, value) {
    const document = parseText(text);
    const node = nodeAt(document, path);
    const [offset] = rangeOf(node);
    if (isEmpty(node)) return fillEmpty(text, keyPlace(text, document, path), value);
    const isPlain = isScalar(node) && typeof value !== "object";
    const printed = isPlain ? printScalar(value, quoteOf(node)) : printFlow(value);
    const end = trimmedEnd(text, endOf(node));
    const isBlock = isCollection(node) && node.flow !== true && typeof path.at(-1) === "string";
    if (!isBlock) return { offset, length: end - offset, text: printed };
    // What is on lines of its own may be less far in than a single value must be.
    const start = keyPlace(text, document, path).offset;
    return { offset: start, length: end - start, text: ` ${printed}` };
  },
  add(text, path, name, value) {
    const document = parseText(text);
    if (path.length === 0 && document.contents === null) return createMap(text, name, value);
    const map = nodeAt(document, path);
    refuseAlias(map);
    if (!isMap(map)) throw new TextFault("this is no map that can be added to", rangeOf(map)[0]);
    if (map.flow === true) return addToFlow(map, `${printScalar(name, null)}: ${printFlow(value)}`);
    return addToBlock(text, map, printBlock(text, { [name]: value }));
  },
  append(text, path, value) {
    const list = nodeAt(parseText(text), path);
    refuseAlias(list);
    if (!isSeq(list)) throw new TextFault("this is no list that can be added to", rangeOf(list)[0]);
    return list.flow === true
      ? addToFlow(list, printFlow(value))
      : addToBlock(text, list, printBlock(text, [value]));
  },
  remove(text, path) {
    const document = parseText(text);
    const container = nodeAt(document, path.slice(0, -1));
    const entry = entryAt(container, path.at(-1));
    if (!isCollection(container) || entry === null) throw new TextFault("there is no such setting", null);
    return cutEntry(text, container, entry);
  },
};

function nodeAt(document: Document, path: Path): Node {
  let node: Node | null = document.contents;
  for (const step of path) {
    const entry = node === null ? null : entryAt(node, step);
    node = isNode(entry) ? entry : ((entry?.value ?? null) as Node | null);
  }
  if (node === null) throw new TextFault("there is no such setting", null);
  return node;
}

function entryAt(node: Node, step: string | number | undefined): Pair | Node | null {
  refuseAlias(node);
  if (isSeq(node))
    return (typeof step === "number" ? (node.items[step] as Node | undefined) : undefined) ?? null;
  if (!isMap(node)) return null;
  return node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === step) ?? null;
}

/** What an alias stands for is written elsewhere, and would change there as well. */
function refuseAlias(node: Node): void {
  if (isAlias(node)) throw new TextFault("this is an alias for what is written elsewhere", rangeOf(node)[0]);
}

/** `name:` and nothing behind it. */
function isEmpty(node: Node): boolean {
  const [start, end] = rangeOf(node);
  return isScalar(node) && start === end;
}

/** Behind the colon of a key, and the column that the key is in. */
function keyPlace(text: string, document: Document, path: Path): { offset: number; column: number } {
  const entry = entryAt(nodeAt(document, path.slice(0, -1)), path.at(-1));
  if (!isPair(entry)) throw new TextFault("this is an item with nothing in it", null);
  const [start, end] = rangeOf(entry.key as Node);
  return { offset: text.indexOf(":", end) + 1, column: columnOf(text, start) };
}

/** Behind the colon, or on lines of its own. */
function fillEmpty(
  text: string,
  { offset, column }: { offset: number; column: number },
  value: Value | null,
): Edit {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    return { offset, length: 0, text: ` ${printFlow(value)}` };
  }
  const indent = " ".repeat(column + 2);
  const lines = printBlock(text, value).map((line) => lineEndOf(text) + indent + line);
  return { offset: endOfLine(text, offset), length: 0, text: lines.join("") };
}

function createMap(text: string, name: string, value: Value): Edit {
  const lineEnd = lineEndOf(text);
  const before = text === "" || text.endsWith("\n") ? "" : lineEnd;
  const lines = printBlock(text, { [name]: value });
  return { offset: text.length, length: 0, text: before + lines.join(lineEnd) + lineEnd };
}

function addToFlow(container: YAMLMap | YAMLSeq, printed: string): Edit {
  const last = container.items.at(-1);
  if (last === undefined) return { offset: rangeOf(container)[0] + 1, length: 0, text: printed };
  return { offset: endOf(last as Pair | Node), length: 0, text: `, ${printed}` };
}

/** Lines below the last entry, moved in as the first is. */
function addToBlock(text: string, container: YAMLMap | YAMLSeq, lines: readonly string[]): Edit {
  const lineEnd = lineEndOf(text);
  const indent = " ".repeat(columnOf(text, rangeOf(container)[0]));
  const entry = lines.map((line) => (line === "" ? "" : indent + line)).join(lineEnd);
  const end = endOf(container);
  // Behind a text of several lines we are at the beginning of the next.
  if (text[end - 1] === "\n") return { offset: end, length: 0, text: entry + lineEnd };
  return { offset: endOfLine(text, end), length: 0, text: lineEnd + entry };
}
