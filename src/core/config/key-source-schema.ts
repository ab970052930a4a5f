import type { KeySource } from "../secrets/key-source.ts";
import { listFrom, object, text } from "./shape.ts";
import { checkCredentialName, checkFilePath } from "./string-rules.ts";

const checkProgram = (value: string) => (value === "" ? "must not be empty" : null);

/** The source of a key that is not in the keychain. */
export const keySource = object({
  file: text(checkFilePath).optional().describe("File that contains the key, mode 0600."),
  command: listFrom(text(checkProgram).keywords({ minLength: 1 }), text())
    .optional()
    .describe('Command that prints the key, run without a shell, e.g. ["pass", "show", "x"].'),
  credential: text(checkCredentialName).optional().describe("Name of a systemd credential."),
})
  .keywords({ minProperties: 1, maxProperties: 1 })
  .resolve(({ file, command, credential }): KeySource | { problem: string } => {
    const given: KeySource[] = [];
    if (file !== undefined) given.push({ kind: "file", path: file });
    if (command !== undefined) given.push({ kind: "command", argv: command });
    if (credential !== undefined) given.push({ kind: "credential", name: credential });
    const [source] = given;
    if (source !== undefined && given.length === 1) return source;
    return { problem: 'must contain exactly one of "file", "command" and "credential"' };
  });
