import { quoteForShell, unquoteShell, type Shell } from "../../core/text/shell-words.ts";
import type { Value } from "../../tools/setting.ts";
import { DocumentError, type FormatEditor, type ResolvedPath } from "./format-editor.ts";
import { detectLineEnding, insertAt, isTerminated, removeSpans, type Span } from "./text-edits.ts";

/** The key under which `read` returns the lines outside the block; not a valid variable name. */
const OTHER_LINES = "";

/**
 * Edits one tool's block in a shell's start-up file: the lines between two markers that name the tool. The rest of the
 * file is a program and stays as it is; `read` returns it as a list of lines, so that comparing two results notices a
 * change there. A new block goes to the end of the file, where it overrides earlier assignments.
 */
export function shellEditor(shell: Shell, owner: string): FormatEditor {
  return {
    read(text) {
      const { lines, markers, variables } = readFile(text, owner);
      // Blank lines are left out: one may come and go with the line ending that precedes the block.
      const others = lines.filter(
        (line) => line.source.trim() !== "" && !markers.includes(line) && !variables.includes(line),
      );
      return {
        ...Object.fromEntries(variables.map(({ name, source }) => [name, readValue(shell, source)])),
        [OTHER_LINES]: others.map(({ source }) => source),
      };
    },
    find: (text, path) => spanOf(findVariable(readFile(text, owner), path)),
    replace(text, path, value) {
      const line = findVariable(readFile(text, owner), path);
      return { ...spanOf(line), text: printLine(shell, line.name, value) };
    },
    add(text, path, name, value) {
      if (path.length > 0) throw new DocumentError("the file contains only variables", null);
      const lineEnding = detectLineEnding(text);
      const line = printLine(shell, name, value) + lineEnding;
      const [, closing] = readFile(text, owner).markers;
      if (closing !== undefined) return insertAt(closing.offset, line);
      const block = markersOf(owner)
        .map((marker) => marker + lineEnding)
        .join(line);
      return insertAt(text.length, isTerminated(text) ? block : lineEnding + block);
    },
    append() {
      throw new DocumentError("the file contains only variables", null);
    },
    remove(text, path) {
      const file = readFile(text, owner);
      // The markers go with the last variable. Lines that the user added between them stay.
      const removed = [findVariable(file, path), ...(file.variables.length === 1 ? file.markers : [])];
      return removeSpans(text, removed);
    },
  };
}

/** Returns a start-up file without the blocks of all tools. */
export function removeBlocks(text: string): string {
  return text.replaceAll(/^# >>> tollkeeper (\S+) >>>\r?\n[^]*?^# <<< tollkeeper \1 <<<(?:\r?\n|$)/gm, "");
}

/** Returns the line that sets a variable for the shell and the programs it starts. */
export function printAssignment(shell: Shell, name: string, value: Value | null): string {
  if (typeof value !== "string" || /[\p{Cc}]/u.test(value)) {
    throw new DocumentError(`the value of ${name} is not a single line of text`, null);
  }
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new DocumentError("not a valid variable name", null);
  const quoted = quoteForShell(value, shell);
  return shell === "fish" ? `set -gx ${name} ${quoted}` : `export ${name}=${quoted}`;
}

/** Lists of hosts, to which a block adds its value: what the system or a company sets must stay. */
const LISTS = ["NO_PROXY", "no_proxy"];

/** As {@link printAssignment}; a list keeps the hosts that it has when the file is run, however often that is. */
export function printLine(shell: Shell, name: string, value: Value | null): string {
  const other = LISTS.find((one) => one !== name);
  if (!LISTS.includes(name) || typeof value !== "string" || !/^[\w.:,-]+$/.test(value))
    return printAssignment(shell, name, value);
  if (shell === "fish") {
    const own = value.replaceAll(".", "\\.").replaceAll(",", "|");
    const given = `(test -n "$${name}"; and echo "$${name}"; or echo "$${other}")`;
    return `set -gx ${name} (string join , (string split -n , -- ${given} | string match -rv '^(${own})$') ${value})`;
  }
  const cut = `v=\${${name}:-\${${other}-}}; v=\${v%${value}}; v=\${v%,}`;
  return `export ${name}="$(${cut}; echo "\${v:+$v,}${value}")"`;
}

/** The end of a line of {@link printLine}. */
const ADDED = /(?:\$v,\}([\w.:,-]+)"\)"|\) ([\w.:,-]+)\))$/;

/** Returns the value that such a line sets or adds or, if that depends on running the line, its source. */
function readValue(shell: Shell, line: string): string {
  const added = ADDED.exec(line);
  if (added !== null) return added[1] ?? added[2] ?? "";
  const source = line.replace(/^\s*(?:export|set -gx)\s+\w+[=\s]\s*/, "").trimEnd();
  return unquoteShell(source, shell) ?? source;
}

/** A line, with its line ending. */
interface Line extends Span {
  /** The line without its line ending. */
  source: string;
  /** The variable that the line sets, if {@link printAssignment} could have written it; otherwise empty. */
  name: string;
}

interface StartUpFile {
  lines: readonly Line[];
  /** The opening and the closing marker; empty without a block. */
  markers: readonly Line[];
  /** The lines of the block that set variables. */
  variables: readonly Line[];
}

function readFile(text: string, owner: string): StartUpFile {
  const lines = splitLines(text);
  const [opening, closing] = markersOf(owner).map((marker) => findMarker(lines, marker));
  const either = opening ?? closing;
  if (either === undefined) return { lines, markers: [], variables: [] };
  if (opening === undefined || closing === undefined || closing.offset < opening.offset) {
    const message = "one of the two lines that mark tollkeeper's block is missing";
    throw new DocumentError(message, either.offset);
  }
  const inside = lines.slice(lines.indexOf(opening) + 1, lines.indexOf(closing));
  const variables = inside.filter(({ name }) => name !== "");
  const names = variables.map(({ name }) => name);
  const again = variables.find(({ name }, index) => names.indexOf(name) < index);
  if (again !== undefined) throw new DocumentError(`${again.name} is set twice`, again.offset);
  return { lines, markers: [opening, closing], variables };
}

function splitLines(text: string): Line[] {
  return [...text.matchAll(/[^\n]+\n?|\n/g)].map(({ 0: whole, index: offset }) => {
    const source = whole.replace(/\r?\n$/, "");
    const name = /^\s*(?:export|set -gx)\s+([A-Za-z_]\w*)[=\s]/.exec(source)?.[1] ?? "";
    return { offset, length: whole.length, source, name };
  });
}

function markersOf(owner: string): string[] {
  return [`# >>> tollkeeper ${owner} >>>`, `# <<< tollkeeper ${owner} <<<`];
}

/** @throws DocumentError when the marker occurs twice */
function findMarker(lines: readonly Line[], marker: string): Line | undefined {
  const [first, second] = lines.filter(({ source }) => source.trim() === marker);
  if (second !== undefined)
    throw new DocumentError("the file contains tollkeeper's block twice", second.offset);
  return first;
}

function findVariable({ variables }: StartUpFile, path: ResolvedPath): Line {
  const found = variables.find(({ name }) => path.length === 1 && name === path[0]);
  if (found === undefined) throw new DocumentError("there is no such setting", null);
  return found;
}

/** Excludes the line ending. */
function spanOf({ offset, source }: Line): Span {
  return { offset, length: source.length };
}
