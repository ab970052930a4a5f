import { isObject, parseJson } from "../../json.ts";
import type { ImportedRecord } from "./imported-record.ts";

/** Parses a line of an import; null for what is none. Only tollkeeper writes such lines, each file at once. */
export function parseImported(line: string): ImportedRecord | null {
  const value = parseJson(line);
  return isObject(value) && typeof value["id"] === "string" && isObject(value["tokens"])
    ? (value as unknown as ImportedRecord)
    : null;
}
