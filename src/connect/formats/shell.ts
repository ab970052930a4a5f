import { cutOut, lineEndOf, TextFault } from "./language.ts";
import type { Language } from "./language.ts";
import type { Path } from "./language.ts";
import { lineOf, nameIn, valueIn } from "./shell-lines.ts";
import type { Shell } from "./shell-lines.ts";

/** No name of a variable; stands for the lines that are not ours. */
const OTHERS = "";

/**
 * A shell's start-up file, of which we know our own block only: the lines between two markers that name the owner. The
 * rest is a program, and stays as it is: it is read as a list of its lines, so that whoever compares sees it. The block is
 * at the end of the file, where it wins over what was set before.
 */
export function shellLanguage(shell: Shell, owner: string): Language {
  const blockIn = (text: string) => findBlock(text, owner);
  return {
    read(text) {
      const block = blockIn(text);
      const lines = block?.lines ?? [];
      const variables = lines.map(({ name, source }) => [name, valueIn(shell, source)]);
      return { ...Object.fromEntries(variables), [OTHERS]: othersIn(text, block, owner) };
    },
    find: (text, path) => spanOf(lineAt(blockIn(text), path)),
    replace(text, path, value) {
      const line = lineAt(blockIn(text), path);
      return { ...spanOf(line), text: lineOf(shell, line.name, value) };
    },
    add(text, path, name, value) {
      if (path.length > 0) throw new TextFault("the file holds variables only", null);
      const line = lineOf(shell, name, value) + lineEndOf(text);
      const block = blockIn(text);
      if (block !== null) return { offset: block.end, length: 0, text: line };
      const isEnded = text === "" || text.endsWith("\n");
      const lineEnd = lineEndOf(text);
      const markers = [openingOf(owner), closingOf(owner)].map((marker) => marker + lineEnd);
      return { offset: text.length, length: 0, text: (isEnded ? "" : lineEnd) + markers.join(line) };
    },
    append() {
      throw new TextFault("the file holds variables only", null);
    },
    remove(text, path) {
      const block = blockIn(text);
      const line = lineAt(block, path);
      const rest = cutOut(text, [{ offset: line.offset, length: nextLine(text, line.offset) - line.offset }]);
      return block?.lines.length === 1 ? dropMarkers(rest, owner) : rest;
    },
  };
}

/** A start-up file without the block of any tool. */
export function withoutBlocks(text: string): string {
  return text.replaceAll(/^# >>> tollkeeper (\S+) >>>\r?\n[^]*?^# <<< tollkeeper \1 <<<(?:\r?\n|$)/gm, "");
}

/** A line, without its line end. */
interface Piece {
  offset: number;
  source: string;
}

/** A line of a block that sets a variable. */
interface Line extends Piece {
  name: string;
}

/** What stands between the markers. */
interface Block {
  /** Of the closing marker. */
  end: number;
  lines: readonly Line[];
}

function openingOf(owner: string): string {
  return `# >>> tollkeeper ${owner} >>>`;
}

function closingOf(owner: string): string {
  return `# <<< tollkeeper ${owner} <<<`;
}

function findBlock(text: string, owner: string): Block | null {
  const start = markerIn(text, openingOf(owner));
  const end = markerIn(text, closingOf(owner));
  if (start === null && end === null) return null;
  if (start === null || end === null || end < start) {
    throw new TextFault("one of the two lines that mark tollkeeper's block is missing", start ?? end);
  }
  return { end, lines: linesBetween(text, nextLine(text, start), end) };
}

/** null where there is none; each may stand there once. */
function markerIn(text: string, marker: string): number | null {
  const found = [...text.matchAll(/^.*$/gm)].filter(([line]) => line.trim() === marker);
  const [first, second] = found;
  if (second !== undefined) throw new TextFault("tollkeeper's block is there twice", second.index);
  return first?.index ?? null;
}

function linesBetween(text: string, start: number, end: number): Line[] {
  const lines: Line[] = [];
  for (const { offset, source } of piecesOf(text, start, end)) {
    const name = nameIn(source);
    if (name === null) continue;
    if (lines.some((line) => line.name === name)) throw new TextFault(`${name} is set twice`, offset);
    lines.push({ offset, source, name });
  }
  return lines;
}

function piecesOf(text: string, start: number, end: number): Piece[] {
  const pieces: Piece[] = [];
  for (let offset = start; offset < end; offset = nextLine(text, offset)) {
    pieces.push({ offset, source: text.slice(offset, nextLine(text, offset)).replace(/\r?\n$/, "") });
  }
  return pieces;
}

/** Blank ones are no part of it: one may come and go with the line end that is put before our block. */
function othersIn(text: string, block: Block | null, owner: string): string[] {
  const ours = new Set([openingOf(owner), closingOf(owner)]);
  const isOurs = (line: Piece) =>
    ours.has(line.source.trim()) || block?.lines.some(({ offset }) => offset === line.offset) === true;
  return piecesOf(text, 0, text.length).flatMap((line) =>
    line.source.trim() === "" || isOurs(line) ? [] : [line.source],
  );
}

function lineAt(block: Block | null, path: Path): Line {
  const found = block?.lines.find(({ name }) => path.length === 1 && name === path[0]);
  if (found === undefined) throw new TextFault("there is no such setting", null);
  return found;
}

function spanOf({ offset, source }: Line): { offset: number; length: number } {
  return { offset, length: source.length };
}

function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end + 1;
}

/** Lines that somebody else put between them stay. */
function dropMarkers(text: string, owner: string): string {
  const markers = [openingOf(owner), closingOf(owner)].map((marker) => markerIn(text, marker) ?? text.length);
  return cutOut(
    text,
    markers.map((offset) => ({ offset, length: nextLine(text, offset) - offset })),
  );
}
