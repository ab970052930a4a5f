import { randomBytes } from "node:crypto";
import { messageOf } from "../../core/failure.ts";
import type { Log } from "../../ports.ts";
import { readStateFile, writeStateFile } from "../state-file.ts";

const SALT_BYTES = 32;
const SALT = /^[0-9a-f]{64}\n$/;

/**
 * Reads the salt of this installation with which the accounts of plans are hashed. Creates it, with mode 0600, where there is none. If that
 * is impossible, accounts have other names until the next start, and the log says so.
 */
export function accountSalt(path: string, log: Log): Buffer {
  const salt = randomBytes(SALT_BYTES);
  try {
    const known = readStateFile(path);
    if (known !== null && SALT.test(known)) return Buffer.from(known.trim(), "hex");
    writeStateFile(path, `${salt.toString("hex")}\n`);
  } catch (error) {
    log.warn(
      { file: path, reason: messageOf(error) },
      "the salt for the accounts of plans cannot be read or written: the accounts have other names until the next start",
    );
  }
  return salt;
}
