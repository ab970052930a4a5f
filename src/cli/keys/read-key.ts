import { Failure } from "../../core/failure.ts";
import { findUnlikelyKey, parseApiKey } from "../../core/secrets/api-key.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { readSecretText } from "../terminal/read-secret.ts";

/**
 * Reads a key from the terminal, after saying what it is for and where it will be sent, or all of standard input.
 * @param what the key, e.g. `key "default"`
 * @param force accepts what does not look like a key
 * @throws Failure that never repeats any of the text
 */
export async function readKey(what: string, { origin }: KeyRef, force: boolean): Promise<Secret> {
  const text = await readSecretText(`Paste the ${what}; it is sent only to ${origin}, and is not shown: `);
  if (text.trim() === "" && !process.stdin.isTTY)
    throw new Failure(
      `no ${what} was piped in: standard input is empty`,
      "see what the part before the | prints; an unset variable prints nothing",
    );
  const key = parseApiKey(text);
  const unlikely = force ? null : findUnlikelyKey(text);
  if (unlikely === null) return key;
  throw new Failure(
    `this does not look like an API key: ${unlikely.reason}`,
    `${unlikely.fix}; to store it as it is, add: --force`,
  );
}
