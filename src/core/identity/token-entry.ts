import { list, object } from "../config/shape/composites.ts";
import { integer, text } from "../config/shape/scalars.ts";
import { judgeName } from "../config/string-rules.ts";

/** A registered local token: all that is kept of it, which is not the token. */
export interface TokenEntry {
  /** Eight hexadecimal digits that name it, where the token itself must not stand. */
  id: string;
  tool: string;
  /** SHA-256 of the token, hexadecimal. */
  hash: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** What it is for, in the words of who made it; null where nobody said. */
  note: string | null;
}

const VERSION = 1;

const tokenFile = object({
  v: integer(VERSION, VERSION),
  tokens: list(
    object({
      id: text((id) => (/^[0-9a-f]{8}$/.test(id) ? null : "must be eight hexadecimal digits")),
      tool: text(judgeName),
      hash: text((hash) => (/^[0-9a-f]{64}$/.test(hash) ? null : "must be a SHA-256 in hexadecimal")),
      createdAt: text(),
      note: text().nullable(),
    }),
  ),
});

/** The entries in a text of {@link writeTokenEntries}; null for any other. */
export function parseTokenEntries(content: string): TokenEntry[] | null {
  const verdict = tokenFile.read(parseJson(content), []);
  return "value" in verdict ? verdict.value.tokens : null;
}

/** An entry a line, for people who look. */
export function writeTokenEntries(entries: readonly TokenEntry[]): string {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)}`);
  return `{"v":${VERSION},"tokens":[\n${lines.join(",\n")}\n]}\n`;
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
