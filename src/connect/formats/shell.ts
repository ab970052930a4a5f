import type { Shell } from "../../core/text/shell-words.ts";
import { DocumentError, type FormatEditor, type ResolvedPath } from "./format-editor.ts";
import { printAssignment, readName, readValue } from "./shell-lines.ts";
import { detectLineEnding, removeSpans, type Span } from "./text-edits.ts";

/** Not a valid variable name; the key under which the lines outside the block are read. */
const OTHER_LINES = "";

/**
 * Edits one tool's block in a shell's start-up file: the lines between two markers that name the tool. The rest of the
 * file is a program and stays as it is; `read` returns it as a list of lines, so that comparing two results notices a
 * change there. A new block goes to the end of the file, where it overrides earlier assignments.
 */
export function shellEditor(shell: Shell, owner: string): FormatEditor {
  const blockIn = (text: string) => findBlock(text, owner);
  return {
    read(text) {
      const block = blockIn(text);
      const lines = block?.lines ?? [];
      const variables = lines.map(({ name, source }) => [name, readValue(shell, source)]);
      return { ...Object.fromEntries(variables), [OTHER_LINES]: readOtherLines(text, block, owner) };
    },
    find: (text, path) => spanOf(findVariableLine(blockIn(text), path)),
    replace(text, path, value) {
      const line = findVariableLine(blockIn(text), path);
      return { ...spanOf(line), text: printAssignment(shell, line.name, value) };
    },
    add(text, path, name, value) {
      if (path.length > 0) throw new DocumentError("the file holds variables only", null);
      const lineEnding = detectLineEnding(text);
      const line = printAssignment(shell, name, value) + lineEnding;
      const block = blockIn(text);
      if (block !== null) return { offset: block.end, length: 0, text: line };
      const isTerminated = text === "" || text.endsWith("\n");
      const markers = [openingMarker(owner), closingMarker(owner)].map((marker) => marker + lineEnding);
      return { offset: text.length, length: 0, text: (isTerminated ? "" : lineEnding) + markers.join(line) };
    },
    append() {
      throw new DocumentError("the file holds variables only", null);
    },
    remove(text, path) {
      const block = blockIn(text);
      const { offset } = findVariableLine(block, path);
      const rest = removeSpans(text, [{ offset, length: findNextLine(text, offset) - offset }]);
      return block?.lines.length === 1 ? removeMarkers(rest, owner) : rest;
    },
  };
}

/** Returns a start-up file without the blocks of all tools. */
export function removeBlocks(text: string): string {
  return text.replaceAll(/^# >>> tollkeeper (\S+) >>>\r?\n[^]*?^# <<< tollkeeper \1 <<<(?:\r?\n|$)/gm, "");
}

/** A line, without its line ending. */
interface SourceLine {
  offset: number;
  source: string;
}

/** A line of a block that sets a variable. */
interface VariableLine extends SourceLine {
  name: string;
}

interface Block {
  /** Offset of the closing marker. */
  end: number;
  lines: readonly VariableLine[];
}

function openingMarker(owner: string): string {
  return `# >>> tollkeeper ${owner} >>>`;
}

function closingMarker(owner: string): string {
  return `# <<< tollkeeper ${owner} <<<`;
}

function findBlock(text: string, owner: string): Block | null {
  const start = findMarker(text, openingMarker(owner));
  const end = findMarker(text, closingMarker(owner));
  if (start === null && end === null) return null;
  if (start === null || end === null || end < start) {
    throw new DocumentError("one of the two lines that mark tollkeeper's block is missing", start ?? end);
  }
  return { end, lines: readVariableLines(text, findNextLine(text, start), end) };
}

/** null when the marker is missing. Throws when it occurs twice. */
function findMarker(text: string, marker: string): number | null {
  const found = [...text.matchAll(/^.*$/gm)].filter(([line]) => line.trim() === marker);
  const [first, second] = found;
  if (second !== undefined) throw new DocumentError("tollkeeper's block is there twice", second.index);
  return first?.index ?? null;
}

function readVariableLines(text: string, start: number, end: number): VariableLine[] {
  const lines: VariableLine[] = [];
  for (const { offset, source } of splitLines(text, start, end)) {
    const name = readName(source);
    if (name === null) continue;
    if (lines.some((line) => line.name === name)) throw new DocumentError(`${name} is set twice`, offset);
    lines.push({ offset, source, name });
  }
  return lines;
}

function splitLines(text: string, start: number, end: number): SourceLine[] {
  const lines: SourceLine[] = [];
  for (let offset = start; offset < end; offset = findNextLine(text, offset)) {
    lines.push({ offset, source: text.slice(offset, findNextLine(text, offset)).replace(/\r?\n$/, "") });
  }
  return lines;
}

/** Blank lines are left out: one may come and go with the line ending that is put before the block. */
function readOtherLines(text: string, block: Block | null, owner: string): string[] {
  const markers = new Set([openingMarker(owner), closingMarker(owner)]);
  const isOurs = (line: SourceLine) =>
    markers.has(line.source.trim()) || block?.lines.some(({ offset }) => offset === line.offset) === true;
  return splitLines(text, 0, text.length).flatMap((line) =>
    line.source.trim() === "" || isOurs(line) ? [] : [line.source],
  );
}

function findVariableLine(block: Block | null, path: ResolvedPath): VariableLine {
  const found = block?.lines.find(({ name }) => path.length === 1 && name === path[0]);
  if (found === undefined) throw new DocumentError("there is no such setting", null);
  return found;
}

function spanOf({ offset, source }: SourceLine): Span {
  return { offset, length: source.length };
}

function findNextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end + 1;
}

/** Lines that a person added between the markers stay. */
function removeMarkers(text: string, owner: string): string {
  const markers = [openingMarker(owner), closingMarker(owner)].map(
    (marker) => findMarker(text, marker) ?? text.length,
  );
  return removeSpans(
    text,
    markers.map((offset) => ({ offset, length: findNextLine(text, offset) - offset })),
  );
}
