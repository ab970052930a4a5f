import { createKeychain } from "../../adapters/keychain.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { listConfiguredKeys } from "../../core/policy/upstreams.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import type { WritableKeyStore } from "../../ports.ts";
import { attempt } from "../attempt.ts";
import { confirm, isInteractive } from "../terminal/confirm.ts";
import { note, print } from "../terminal/console.ts";
import { findKey, requireKeychainSource, type KeyArguments, type KeyTarget } from "./find-key.ts";
import { notifyOfChange } from "./notify-of-change.ts";
import { readKey } from "./read-key.ts";
import { testKey } from "./test-key.ts";

/** Arguments of `tollkeeper key set`. */
export interface SetKeyArguments extends KeyArguments {
  /** Replace a key that is stored already. */
  replace: boolean;
  /** Store what does not look like a key. */
  force: boolean;
}

/** Stores a key in the keychain, after saying where it will be sent. Never replaces a stored one without being told to. */
export async function setKey(argv: SetKeyArguments): Promise<void> {
  const target = await findKey(argv);
  requireKeychainSource(target);
  const keychain = createKeychain();
  const what = `key "${target.ref.name}" of upstream ${target.upstream.name}`;
  if (!(await mayReplace(target, keychain, argv.replace))) return print("Nothing was changed.");
  await keychain.write(target.ref, await readKey(what, target.ref, argv.force));
  print(`Stored ${what}. It is sent only to ${target.ref.origin}.`);
  noteUnused(target);
  await notifyOfChange();
  await offerTest(argv, target);
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
    note(`note: the configuration does not name "${ref.name}" yet; to add it, type: tollkeeper config edit`);
}

async function offerTest(argv: KeyArguments, target: KeyTarget): Promise<void> {
  if (isInteractive()) {
    if (await confirm("Test it now?")) await testKey({ ...argv, json: false });
  } else print(`To test it, type: tollkeeper ${target.ref.setArguments.replace("key set", "key test")}`);
}
