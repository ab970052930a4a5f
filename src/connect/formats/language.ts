import type { Value } from "../../tools/setting.ts";

/** From the top of a file to a value in it: names of keys and places in lists. */
export type Path = readonly (string | number)[];

/** A part of a text, in UTF-16 code units. */
export interface Span {
  offset: number;
  length: number;
}

/** Puts `text` in the place of a part of another text. */
export interface Edit extends Span {
  text: string;
}

/**
 * How one format is read and changed. Texts come without a byte order mark. Every change touches as few characters as it
 * can; whoever asks for it reads the result again and compares, so nothing is written by mistake. All of them throw
 * {@link TextFault} where the text cannot be understood, or cannot be changed in that place.
 */
export interface Language {
  /** Fresh plain data; the top is always an object, and an empty text an empty one. */
  read(text: string): Record<string, unknown>;
  /** Where the value stands that is at the end of the path. */
  find(text: string, path: Path): Span;
  /** A value that is there becomes another. */
  replace(text: string, path: Path, value: Value | null): Edit;
  /** The object at `path`, which is there, gets one more member. */
  add(text: string, path: Path, name: string, value: Value): Edit;
  /** The list at `path`, which is there, gets one more item, at its end. */
  append(text: string, path: Path, value: Value): Edit;
  /** The text without the member or item at the end of the path. */
  remove(text: string, path: Path): string;
}

/** What is wrong with a text, and where. Never repeats any of it. */
export class TextFault extends Error {
  /** In the text, in UTF-16 code units; null where no place can be told. */
  readonly offset: number | null;

  constructor(message: string, offset: number | null) {
    super(message);
    this.name = new.target.name;
    this.offset = offset;
  }
}

export function applyEdit(text: string, { offset, length, text: inserted }: Edit): string {
  return text.slice(0, offset) + inserted + text.slice(offset + length);
}

/** The text without these parts, which do not overlap. */
export function cutOut(text: string, spans: readonly Span[]): string {
  const fromBehind = [...spans].sort((one, other) => other.offset - one.offset);
  return fromBehind.reduce((rest, span) => applyEdit(rest, { ...span, text: "" }), text);
}

/** How the text ends its lines: as it ends the first. */
export function lineEndOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** Where the line ends that `offset` is in: before its line end. */
export function endOfLine(text: string, offset: number): number {
  const found = /\r?\n/g;
  found.lastIndex = offset;
  return found.exec(text)?.index ?? text.length;
}

/** Where the line begins that `offset` is in. */
export function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Spaces and tabs at the beginning of the line that `offset` is in. */
export function indentAt(text: string, offset: number): string {
  return /[ \t]*/y.exec(text.slice(startOfLine(text, offset)))?.[0] ?? "";
}

/**
 * Where the gap begins before something that is to be taken out: blanks, and the line end before them if nothing else
 * stands on its line. Otherwise that line end may be what ends a comment.
 */
export function startOfGap(text: string, start: number, end: number): number {
  const isAlone = text.slice(end, endOfLine(text, end)).trim() === "";
  const gap = isAlone ? /(?:\r?\n)?[ \t]*$/ : /[ \t]*$/;
  return gap.exec(text.slice(0, start))?.index ?? start;
}

/** Every line but the first moved in by `indent`, and ended as `lineEnd` says. */
export function indentRest(text: string, indent: string, lineEnd: string): string {
  return text.split("\n").join(lineEnd + indent);
}
