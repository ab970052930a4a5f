import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { codeOf, KeyFailure, messageOf, type KeyFix } from "../core/failure.ts";
import { fixForeignFile } from "../core/foreign-file.ts";
import { COMMAND_TIMEOUT_MS, describeKeySource } from "../core/secrets/key-source.ts";
import type { KeyRef, KeySource } from "../core/secrets/key-source.ts";
import { MAX_KEY_LENGTH, parseApiKey } from "../core/secrets/api-key.ts";
import { parseAwsKeys, parseKeyOutput } from "../core/secrets/key-output.ts";
import { NO_SECRET, type Secret } from "../core/secrets/secret.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import type { KeyStore } from "../ports.ts";
import { letRead } from "./open-up.ts";
import { findExposure, type Exposure } from "./trust/exposure.ts";
import { inspectCommand } from "./trust/inspect-command.ts";
import { CORRECT_SOURCE, runKeyCommand } from "./key-sources/key-command.ts";
import { systemReason } from "../core/system-error.ts";

/** How much longer a read may take than a command, in case a process cannot be killed or a file is on a network disk that does not respond. */
const MARGIN_MS = 300;

/** How much of a file is read: enough for the longest key and line breaks. */
const MAX_BYTES = MAX_KEY_LENGTH + 64;

/** Mode bits that give the group or others any access to a file. */
const ACCESSIBLE_TO_OTHERS = 0o077;

/** Returns a key store that reads each key from the source in its reference; `keychain` serves the keys of the keychain. */
export function createKeySources(keychain: KeyStore): KeyStore {
  return {
    async read(ref) {
      const { source } = ref;
      if (source.kind === "none") return NO_SECRET;
      if (source.kind === "keychain") return keychain.read(ref);
      return parse(ref, await readWithTimeout(source));
    },
  };
}

type ExternalSource = Exclude<KeySource, { kind: "none" | "keychain" }>;

function readText(source: ExternalSource): Promise<string> {
  switch (source.kind) {
    case "file":
      return readPrivateFile(source.path);
    case "command":
      return runKeyCommand(source.argv, limitOf(source));
    case "credential":
      return readCredential(source.name);
  }
}

function parse(ref: KeyRef, text: string): Secret {
  if (ref.source.kind !== "command") return parseKey(ref, text, parseApiKey);
  const secret = parseKey(ref, text, ref.source.prints === "aws-keys" ? parseAwsKeys : parseKeyOutput);
  if (secret.expiresAt !== null && secret.expiresAt <= Date.now()) throw expired();
  return secret;
}

/** A program that caches its token may print an old one. The upstream would reject it without saying why. */
function expired(): KeyFailure {
  const hint =
    "log in again with the program that it runs, and check this machine's clock; then type: tollkeeper key test";
  return new KeyFailure("unavailable", "the key command printed a token that has already expired", {
    hint,
    command: "tollkeeper key test",
  });
}

function parseKey(ref: KeyRef, text: string, read: (text: string) => Secret): Secret {
  try {
    return read(text);
  } catch (error) {
    if (error instanceof KeyFailure) throw error;
    const problem = messageOf(error);
    const message = `${nameForClients(ref.source)} provides no valid key: ${problem}`;
    throw new KeyFailure("unavailable", message, "it must provide only the key, on one line");
  }
}

/** How long a source may take, in milliseconds. */
function limitOf(source: ExternalSource): number {
  return source.kind === "command" ? (source.timeoutMs ?? COMMAND_TIMEOUT_MS) : COMMAND_TIMEOUT_MS;
}

/** Enforces what the port promises: it settles within 5 seconds, or the limit of its command, and rejects only with a KeyFailure. */
async function readWithTimeout(source: ExternalSource): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const limitMs = limitOf(source) + MARGIN_MS;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(source, limitMs)), limitMs);
  });
  try {
    return await Promise.race([readText(source), limit]);
  } catch (error) {
    if (error instanceof KeyFailure) throw error;
    throw unavailable(
      `${nameForClients(source)} cannot be read: ${systemReason(error) ?? codeOf(error) ?? String(error)}`,
      CORRECT_SOURCE,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Leaves out a command line, which may hold a credential: clients get the message of a failure. */
function nameForClients(source: KeySource): string {
  return source.kind === "command" ? "the key command" : describeKeySource(source);
}

function tooSlow(source: KeySource, limitMs: number): KeyFailure {
  const message = `${nameForClients(source)} did not return the key within ${limitMs / 1000} seconds`;
  return new KeyFailure("unresponsive", message, `try it in a terminal, then ${CORRECT_SOURCE.hint}`);
}

/** Returns through what somebody else could change a key file, or what a key command runs; null if no one can. */
export async function findExposedSource(source: KeySource): Promise<Exposure | null> {
  if (source.kind === "file") return findExposure(source.path);
  if (source.kind === "command")
    return (await inspectCommand(source.argv, process.env["PATH"] ?? "")).exposure;
  return null;
}

/** Reads a key file. Throws a KeyFailure unless it is this user's own, and no other user has access to it or could put another there. */
async function readPrivateFile(path: string): Promise<string> {
  // A link's target is not the file that was named. Without O_NONBLOCK, opening a pipe would wait for its writer.
  const flags = constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await openSource(`key file ${path}`, path, flags, CORRECT_SOURCE, createFile(path));
  try {
    const status = await file.stat();
    if (!status.isFile()) throw unsafe(`key file ${path} is not a regular file`, CORRECT_SOURCE);
    const self = process.getuid?.();
    if (self !== undefined && status.uid !== self)
      throw unsafe(`key file ${path} belongs to another user`, fixForeignFile(path, status.uid, self));
    if ((status.mode & ACCESSIBLE_TO_OTHERS) !== 0) {
      throw unsafe(
        `key file ${path} is open to other users`,
        `restrict it to yourself: ${formatCommand(["chmod", "600", path])}`,
      );
    }
    const exposure = await findExposure(path);
    if (exposure !== null)
      throw unsafe(exposure.describe(`key file ${path}`), `close it with: ${exposure.command}`);
    return await readStart(file);
  } finally {
    await file.close();
  }
}

/**
 * Reads a systemd credential: a file in a directory that only the service can read, so that its owner and mode need no
 * check (systemd.exec(5), "Credentials").
 */
async function readCredential(name: string): Promise<string> {
  const directory = process.env["CREDENTIALS_DIRECTORY"];
  if (directory === undefined) {
    throw unavailable(
      `systemd passed no credentials to this process, so ${name} is missing`,
      giveToService(name),
    );
  }
  if (basename(name) !== name)
    throw unavailable(`${name} is not the name of a systemd credential`, CORRECT_SOURCE);
  const file = await openSource(`systemd credential ${name}`, join(directory, name), 0, giveToService(name));
  try {
    return await readStart(file);
  } finally {
    await file.close();
  }
}

function giveToService(credential: string): KeyFix {
  const command = "systemctl --user edit tollkeeper";
  return { hint: `write LoadCredential=${credential}:PATH below [Service] in its unit: ${command}`, command };
}

async function openSource(
  what: string,
  path: string,
  flags: number,
  fix: KeyFix,
  whenMissing: string | KeyFix = fix,
): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | flags);
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    if (code === "ENOENT") throw unavailable(`${what} does not exist`, whenMissing);
    if (code === "EACCES") throw unavailable(`${what} cannot be read by this user`, letReadFix(path) ?? fix);
    if (code === "ELOOP") throw unsafe(`${what} is a symbolic link`, CORRECT_SOURCE);
    throw unavailable(`${what} cannot be opened: ${systemReason(error) ?? code}`, fix);
  }
}

/** For a key file that `keySource` names and that does not exist yet. */
function createFile(path: string): string {
  const command = `${formatCommand(["touch", path])} && ${formatCommand(["chmod", "600", path])}`;
  return `create it with: ${command}; then write the key into it with an editor; or ${CORRECT_SOURCE.hint}`;
}

function letReadFix(path: string): string | null {
  const command = letRead(path);
  return command === null ? null : `make it readable: ${command}`;
}

async function readStart(file: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(MAX_BYTES);
  const { bytesRead } = await file.read(bytes, 0, MAX_BYTES, 0);
  return bytes.toString("utf8", 0, bytesRead);
}

function unavailable(message: string, fix: string | KeyFix): KeyFailure {
  return new KeyFailure("unavailable", message, fix);
}

function unsafe(message: string, fix: string | KeyFix): KeyFailure {
  return new KeyFailure("unsafe", message, fix);
}
