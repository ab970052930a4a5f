import { createKeychain } from "../../adapters/keychain.ts";
import { Failure } from "../../core/failure.ts";
import { resolveKeyRef } from "../../core/policy/configured-keys.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { confirm, isInteractive } from "../terminal/confirm.ts";
import { note, print } from "../terminal/console.ts";
import { findKey, requireKeychainSource, type KeyArguments } from "./find-key.ts";
import { notifyDaemon } from "../../daemon/running-daemon.ts";

/** Removes a key from the keychain, after asking. */
export async function removeKey(argv: KeyArguments & { yes: boolean }): Promise<void> {
  const target = await findKey(argv);
  requireKeychainSource(target);
  const { ref } = target;
  const what = `key "${ref.name}" for ${ref.origin}`;
  const keychain = createKeychain();
  const stored = (await keychain.list()).filter(({ origin }) => origin === ref.origin);
  const mayAsk = !argv.yes && stored.some(({ name }) => name === ref.name);
  if (mayAsk && !isInteractive()) {
    throw new Failure(
      `the ${what} was not removed: there is no terminal to ask on, and a removed key cannot be recovered`,
      `to remove it without being asked, type: ${removeCommand(ref)} --yes`,
    );
  }
  if (mayAsk && !(await confirm(`Remove the ${what} from the keychain?`)))
    return print("Nothing was changed.");
  if (!(await keychain.remove(ref))) {
    print(`There is no ${what} in the keychain.`);
    const similar = findNearest(
      ref.name,
      stored.map(({ name }) => name),
    );
    if (similar !== null)
      note(`If you mean "${similar}", type: ${removeCommand(resolveKeyRef(target.upstream, similar))}`);
    return;
  }
  print(`Removed the ${what}.`);
  if (await notifyDaemon("keys-changed")) print("The running daemon no longer uses it.");
}

function removeCommand({ setArguments }: KeyRef): string {
  return `tollkeeper ${setArguments.replace("key set", "key remove")}`;
}
