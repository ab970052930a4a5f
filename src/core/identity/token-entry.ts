import { integer, list, object, text } from "../config/shape.ts";
import { checkName } from "../config/names.ts";
import { isObject, parseJson } from "../json.ts";

/** What is kept of a registered local token. The token itself is not. */
export interface TokenEntry {
  /** Eight hexadecimal digits that name the token wherever it must not be shown. */
  id: string;
  tool: string;
  /** SHA-256 of the token, hexadecimal. */
  hash: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** What the token is for, in the words of the user who made it; null without a note. */
  note: string | null;
}

/** Version of the file of tokens. */
export const TOKENS_VERSION = 1;

const tokenFile = object({
  v: integer(TOKENS_VERSION, TOKENS_VERSION),
  tokens: list(
    object({
      id: text((id) => (/^[0-9a-f]{8}$/.test(id) ? null : "must be eight hexadecimal digits")),
      tool: text(checkName),
      hash: text((hash) => (/^[0-9a-f]{64}$/.test(hash) ? null : "must be a SHA-256 in hexadecimal")),
      createdAt: text(),
      note: text().nullable(),
    }),
  ),
});

/** Parses what {@link formatTokenEntries} returned; null for any other text. */
export function parseTokenEntries(content: string): TokenEntry[] | null {
  const verdict = tokenFile.read(parseJson(content), []);
  return "value" in verdict ? verdict.value.tokens : null;
}

/** True for what a later version of the program has written in a form that this one does not know. */
export function isOfLaterVersion(content: string): boolean {
  const value = parseJson(content);
  return isObject(value) && typeof value["v"] === "number" && value["v"] > TOKENS_VERSION;
}

/** Formats the entries as JSON, one per line. */
export function formatTokenEntries(entries: readonly TokenEntry[]): string {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)}`);
  return `{"v":${TOKENS_VERSION},"tokens":[\n${lines.join(",\n")}\n]}\n`;
}
