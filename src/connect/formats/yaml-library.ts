import { parseAllDocuments, parseDocument } from "yaml";
import type { Document, DocumentOptions, ParseOptions } from "yaml";
import { messageOf } from "../../core/failure.ts";
import { DocumentError } from "./format-editor.ts";

export { isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, stringify } from "yaml";
export type { Document, Node, Pair, YAMLMap, YAMLSeq } from "yaml";

const OPTIONS: ParseOptions & DocumentOptions = { uniqueKeys: true, logLevel: "silent" };

/** Parses a document without expanding `<<`, which YAML 1.2 does not define. */
export function readYaml(text: string): object {
  const document = parseText(text);
  const value: unknown = plain(document);
  if (value === null) return {};
  if (typeof value !== "object") {
    throw new DocumentError("the top is neither a map nor a list", document.contents?.range?.[0] ?? null);
  }
  return value;
}

/** Parses the single document of a text. */
export function parseText(text: string): Document {
  const [document = parseDocument(text, OPTIONS), second] = [...parseAllDocuments(text, OPTIONS)];
  if (second !== undefined) throw new DocumentError("the file contains several documents", second.range[0]);
  const [error] = document.errors;
  // The lines after the first quote the document, which may hold a key.
  if (error !== undefined) throw new DocumentError(`not YAML: ${describe(error.message)}`, error.pos[0]);
  return document;
}

function plain(document: Document): unknown {
  try {
    return unshare(document.toJS());
  } catch (error) {
    throw new DocumentError(`not YAML: ${describe(messageOf(error))}`, null);
  }
}

/** Replaces every alias with a copy: in the parsed result it is the same object as its anchor. */
function unshare(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(unshare);
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, unshare(below)]));
}

/** `Map keys must be unique at line 2, column 1:` → `map keys must be unique`. */
function describe(message: string): string {
  const [first = ""] = message.split("\n");
  const words = first.replace(/ at line \d+, column \d+:?$/, "").replace(/:.*/, "");
  return words.charAt(0).toLowerCase() + words.slice(1);
}
