import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { KeyFailure } from "../core/failure.ts";
import { describeKeySource } from "../core/secrets/key-source.ts";
import type { KeyRef, KeySource } from "../core/secrets/key-source.ts";
import { MAX_KEY_LENGTH, parseKeyValue } from "../core/secrets/key-value.ts";
import type { Secret } from "../core/secrets/secret.ts";
import { messageOf } from "../core/thrown.ts";
import type { KeyStore } from "../ports.ts";
import { EDIT, firstLineOf } from "./key-sources/key-command.ts";

/** After this nobody waits for any source any more, be it a process that cannot be ended or a file on a dead network. */
const LIMIT_MS = 4800;

/** Room for the longest key and the line breaks around it; more of a file is not read. */
const LIMIT_BYTES = MAX_KEY_LENGTH + 64;

/** Bits that let group or others do anything at all with a file. */
const NOT_OURS = 0o077;

/** Reads each key from the source that its reference names: `keychain`, or what this file reads itself. */
export function createKeySources(keychain: KeyStore): KeyStore {
  return {
    async read(ref) {
      if (ref.source.kind === "keychain") return keychain.read(ref);
      return parse(ref, await textInTime(ref.source));
    },
  };
}

type ReadHere = Exclude<KeySource, { kind: "keychain" }>;

function textOf(source: ReadHere): Promise<string> {
  switch (source.kind) {
    case "file":
      return readPrivateFile(source.path);
    case "command":
      return firstLineOf(source.argv);
    case "credential":
      return readCredential(source.name);
  }
}

function parse(ref: KeyRef, text: string): Secret {
  try {
    return parseKeyValue(text);
  } catch (error) {
    const problem = messageOf(error);
    const message = `${nameForClients(ref.source)} gives no key: ${problem}`;
    throw new KeyFailure("unavailable", message, "put the key there, alone and on one line");
  }
}

/** The port promises a KeyFailure, in time, and nothing else. */
async function textInTime(source: ReadHere): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(source)), LIMIT_MS);
  });
  try {
    return await Promise.race([textOf(source), limit]);
  } catch (error) {
    if (error instanceof KeyFailure) throw error;
    throw unavailable(`${nameForClients(source)} cannot be read (${codeOf(error)})`, EDIT);
  } finally {
    clearTimeout(timer);
  }
}

/** A command line may hold a credential of its own, and clients get the message of a failure. */
function nameForClients(source: KeySource): string {
  return source.kind === "command" ? "the key command" : describeKeySource(source);
}

function tooSlow(source: KeySource): KeyFailure {
  const message = `${nameForClients(source)} did not give the key within ${LIMIT_MS / 1000} seconds`;
  return new KeyFailure("unresponsive", message, `try it in a terminal, then ${EDIT}`);
}

/** A key file is trusted only when nobody else can read it, or has put it there. */
async function readPrivateFile(path: string): Promise<string> {
  // A link's target is not what was named; and opening a pipe would wait for its writer.
  const file = await openSource(`key file ${path}`, path, constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw unsafe(`key file ${path} is not a regular file`, EDIT);
    if (status.uid !== process.getuid?.()) {
      throw unsafe(`key file ${path} belongs to another user`, `make it yours: sudo chown $(id -u) ${path}`);
    }
    if ((status.mode & NOT_OURS) !== 0) {
      throw unsafe(`key file ${path} is open to other users`, `close it: chmod 600 ${path}`);
    }
    return await readStart(file);
  } finally {
    await file.close();
  }
}

/**
 * systemd hands each credential to the service as a file, in a directory that only the service can read, so there is
 * nothing more to check (systemd.exec(5), "Credentials").
 */
async function readCredential(name: string): Promise<string> {
  const directory = process.env["CREDENTIALS_DIRECTORY"];
  const hint = `give it to the service: LoadCredential=${name}:PATH in its unit`;
  if (directory === undefined) {
    throw unavailable(`no systemd credentials were given to this process, so ${name} is not there`, hint);
  }
  if (basename(name) !== name) throw unavailable(`${name} is not the name of a systemd credential`, EDIT);
  const file = await openSource(`systemd credential ${name}`, join(directory, name), 0, hint);
  try {
    return await readStart(file);
  } finally {
    await file.close();
  }
}

async function openSource(what: string, path: string, flags: number, hint = EDIT): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | flags);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") throw unavailable(`${what} does not exist`, hint);
    if (code === "EACCES") throw unavailable(`${what} may not be read by this user`, hint);
    if (code === "ELOOP") throw unsafe(`${what} is a symbolic link`, "name the file itself in keySource");
    throw unavailable(`${what} cannot be opened (${code})`, hint);
  }
}

async function readStart(file: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(LIMIT_BYTES);
  const { bytesRead } = await file.read(bytes, 0, LIMIT_BYTES, 0);
  return bytes.toString("utf8", 0, bytesRead);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

function unavailable(message: string, hint: string): KeyFailure {
  return new KeyFailure("unavailable", message, hint);
}

function unsafe(message: string, hint: string): KeyFailure {
  return new KeyFailure("unsafe", message, hint);
}
