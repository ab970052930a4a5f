import type { Value } from "../../tools/setting.ts";
import type { Edit, Span } from "./text-edits.ts";

/** Object keys and list indexes, from the top of a document to a value in it. */
export type ResolvedPath = readonly (string | number)[];

/**
 * Reads and edits one file format. Texts have no byte order mark. Each edit changes as few characters as possible; the
 * caller parses the result and compares it with what it expected, so a wrong edit is never written to disk. Every method
 * throws a {@link DocumentError} when the text cannot be parsed or cannot be edited at that path.
 */
export interface FormatEditor {
  /** Parses the text into plain data that the caller owns: an object, in YAML also a list. An empty text is an empty object. */
  read(text: string): object;
  /** Returns the range of the value at `path`. */
  find(text: string, path: ResolvedPath): Span;
  /** Replaces the existing value at `path`. */
  replace(text: string, path: ResolvedPath, value: Value | null): Edit;
  /** Adds a member to the existing object at `path`. */
  add(text: string, path: ResolvedPath, name: string, value: Value): Edit;
  /** Adds an item to the end of the existing list at `path`. At the top of an empty text it starts the list. */
  append(text: string, path: ResolvedPath, value: Value): Edit;
  /** Returns the text without the member or item at `path`. */
  remove(text: string, path: ResolvedPath): string;
}

/** Says why a document cannot be read or edited, and where. The message never quotes the document. */
export class DocumentError extends Error {
  /** Position in the text, in UTF-16 code units; null when unknown. */
  readonly offset: number | null;

  constructor(message: string, offset: number | null) {
    super(message);
    this.name = new.target.name;
    this.offset = offset;
  }
}
