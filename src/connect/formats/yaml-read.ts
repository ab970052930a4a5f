import { parseAllDocuments, parseDocument } from "yaml";
import type { Document, DocumentOptions, ParseOptions } from "yaml";
import { messageOf } from "../../core/thrown.ts";
import { TextFault } from "./language.ts";

const OPTIONS: ParseOptions & DocumentOptions = { uniqueKeys: true, logLevel: "silent" };

/** Its value, without following `<<`, which YAML 1.2 does not know. */
export function readYaml(text: string): Record<string, unknown> {
  const document = parseText(text);
  const value: unknown = plain(document);
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new TextFault("the top is not a map", document.contents?.range?.[0] ?? null);
  }
  return value as Record<string, unknown>;
}

/** The one document of a text. */
export function parseText(text: string): Document {
  const [document = parseDocument(text, OPTIONS), second] = [...parseAllDocuments(text, OPTIONS)];
  if (second !== undefined) throw new TextFault("the file holds several documents", second.range[0]);
  const [error] = document.errors;
  // What follows the first line of a message shows the place in the text, which may hold a key.
  if (error !== undefined) throw new TextFault(`not YAML: ${describe(error.message)}`, error.pos[0]);
  return document;
}

function plain(document: Document): unknown {
  try {
    return unshare(document.toJS());
  } catch (error) {
    throw new TextFault(`not YAML: ${describe(messageOf(error))}`, null);
  }
}

/** An alias is the same object as what it stands for; here each place has its own, as changes of one are not the other's. */
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
