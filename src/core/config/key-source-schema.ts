import type { KeySource } from "../secrets/key-source.ts";
import { KEY_VALUE_FOUND, looksLikeKey, sanitizeText } from "./problem.ts";
import { integer, listFrom, object, text } from "./shape.ts";
import { checkCredentialName, checkFilePath } from "./string-rules.ts";

const checkProgram = (value: string) => (value === "" ? "must not be empty" : null);

/** A path alone is meant to be a file. Any other text is not repeated, because it may be a key. */
function explainText(value: unknown): string | null {
  if (typeof value !== "string") return null;
  if (looksLikeKey(value)) return KEY_VALUE_FOUND;
  const file = checkFilePath(value) === null ? sanitizeText(value) : "~/key";
  return `must be an object, such as { "file": ${JSON.stringify(file)} }`;
}

/** Only a shell takes a command apart, and none runs it. */
function explainCommandLine(value: unknown): string | null {
  if (typeof value !== "string") return null;
  return `must be a list of words: ${JSON.stringify(sanitizeText(value).trim().split(/\s+/))}`;
}

/** Of these one is given. */
const SOURCES = ["file", "command", "credential"];

/** The shortest time for which a key is used, in milliseconds: a command may take some seconds. */
const MIN_TTL_MS = 10_000;

/** The longest, a year: a key that is used for longer need not be read again. */
const MAX_TTL_MS = 31_536_000_000;

/** The shortest limit of a command, in milliseconds, and the longest: requests wait for their first key so long. */
const [MIN_TIMEOUT_MS, MAX_TIMEOUT_MS] = [2_000, 30_000];

/** The settings of a command, which stand beside no other source. */
const OF_COMMAND = ["ttlMs", "timeoutMs"] as const;

/** The source of a key that is not in the keychain. */
export const keySource = object({
  file: text(checkFilePath).optional().describe("File that contains the key, mode 0600."),
  command: listFrom(text(checkProgram).keywords({ minLength: 1 }), text())
    .explain(explainCommandLine)
    .optional()
    .describe('Command that prints the key, run without a shell, e.g. ["pass", "show", "x"].'),
  credential: text(checkCredentialName).optional().describe("Name of a systemd credential."),
  ttlMs: integer(MIN_TTL_MS, MAX_TTL_MS)
    .optional()
    .describe("How long the key that the command prints is used at most, before the command runs again."),
  timeoutMs: integer(MIN_TIMEOUT_MS, MAX_TIMEOUT_MS)
    .optional()
    .describe("How long the command may take before it is ended with its process group; 4500 by default."),
})
  .explain(explainText)
  .keywords({
    oneOf: SOURCES.map((name) => ({ required: [name] })),
    dependencies: Object.fromEntries(OF_COMMAND.map((name) => [name, ["command"]])),
  })
  .resolve(({ file, command, credential, ...times }): KeySource | { problem: string } => {
    const given: KeySource[] = [];
    if (file !== undefined) given.push({ kind: "file", path: file });
    const { ttlMs, timeoutMs } = times;
    if (command !== undefined)
      given.push({
        kind: "command",
        argv: command,
        ...(ttlMs !== undefined && { ttlMs }),
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
    if (credential !== undefined) given.push({ kind: "credential", name: credential });
    const [source] = given;
    const misplaced = OF_COMMAND.find((name) => times[name] !== undefined);
    if (misplaced !== undefined && source !== undefined && source.kind !== "command")
      return { problem: `may have "${misplaced}" only beside "command"` };
    if (source !== undefined && given.length === 1) return source;
    return { problem: 'must contain exactly one of "file", "command" and "credential"' };
  });
