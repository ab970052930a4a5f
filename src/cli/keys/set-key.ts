import { createKeychain } from "../../adapters/keychain.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { listConfiguredKeys } from "../../core/policy/configured-keys.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { WritableKeyStore } from "../../ports.ts";
import { attempt } from "../attempt.ts";
import { confirm, isInteractive } from "../terminal/confirm.ts";
import { note, print } from "../terminal/console.ts";
import { findKey, requireKeychainSource, type KeyArguments, type KeyTarget } from "./find-key.ts";
import { notifyOfChange } from "./notify-of-change.ts";
import { readKey } from "./read-key.ts";
import { tryKey } from "./try-key.ts";

/** Arguments of `tollkeeper key set`. */
export interface SetKeyArguments extends KeyArguments {
  /** Replace a key that is stored already. */
  replace: boolean;
  /** Store what does not look like a key. */
  force: boolean;
  /** Store only what the upstream does not refuse. */
  test: boolean;
}

/**
 * Stores a key in the keychain, after saying where it will be sent. Never replaces a stored one without being told to, and stores none
 * that the upstream refuses: a wrong key over a working one would stop every tool.
 */
export async function setKey(argv: SetKeyArguments): Promise<void> {
  const target = await findKey(argv);
  requireKeychainSource(target);
  const keychain = createKeychain();
  const what = `key "${target.ref.name}" of upstream ${target.upstream.name}`;
  if (!(await mayReplace(target, keychain, argv.replace))) return print("Nothing was changed.");
  const secret = await readKey(what, target.ref, argv.force);
  const isTested = argv.test && (await isAccepted(target, secret));
  await keychain.write(target.ref, secret);
  print(`Stored ${what}. It is sent only to ${target.ref.origin}.`);
  noteUnused(target);
  await notifyOfChange();
  if (!isTested)
    print(`To test it, type: tollkeeper ${target.ref.setArguments.replace("key set", "key test")}`);
}

/** True when the upstream accepts the key; false, with a warning, when nothing decides that now. @throws Failure when it refuses the key */
async function isAccepted(target: KeyTarget, secret: Secret): Promise<boolean> {
  const failure = await tryKey(target, secret);
  if (failure === null) return true;
  if (failure.code === "refused")
    throw new Failure(
      `${failure.message}; nothing was stored`,
      "use a key that this service has issued; to store this one untested, add: --no-test",
    );
  note(`warning: the key is stored untested: ${failure.message}`);
  return false;
}

async function mayReplace(target: KeyTarget, keychain: WritableKeyStore, replace: boolean): Promise<boolean> {
  if (replace || !(await isStored(keychain, target.ref))) return true;
  const stored = `key "${target.ref.name}" for ${target.ref.origin} is already stored`;
  if (isInteractive()) return confirm(`The ${stored}. Replace it?`);
  throw new Failure(stored, `to replace it, type: tollkeeper ${target.ref.setArguments} --replace`);
}

async function isStored(keychain: WritableKeyStore, ref: KeyRef): Promise<boolean> {
  const { failure } = await attempt(KeyFailure, () => keychain.read(ref));
  if (failure !== null && failure.code !== "missing") throw failure;
  return failure === null;
}

function noteUnused({ config, ref }: KeyTarget): void {
  const isNamed = listConfiguredKeys(config).some(
    ({ ref: { name, origin } }) => name === ref.name && origin === ref.origin,
  );
  if (!isNamed)
    note(
      `note: the configuration does not name "${ref.name}" yet; for a tool to use it, type: tollkeeper config set tools.TOOL.key ${ref.name}`,
    );
}
