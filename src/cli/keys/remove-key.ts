import { createKeychain } from "../../adapters/keychain.ts";
import { Failure } from "../../core/failure.ts";
import { confirm, isInteractive } from "../terminal/confirm.ts";
import { print } from "../terminal/console.ts";
import { findKey, requireKeychainSource, type KeyArguments } from "./find-key.ts";
import { notifyDaemon } from "../../daemon/running-daemon.ts";

/** Removes a key from the keychain, after asking. */
export async function removeKey(argv: KeyArguments & { yes: boolean }): Promise<void> {
  const target = await findKey(argv);
  requireKeychainSource(target);
  const what = `key "${target.ref.name}" for ${target.ref.origin}`;
  if (!argv.yes && !isInteractive()) {
    throw new Failure(
      `the ${what} was not removed: there is no terminal to ask on, and a removed key cannot be recovered`,
      `to remove it without being asked, type: tollkeeper ${target.ref.setArguments.replace("key set", "key remove")} --yes`,
    );
  }
  if (!argv.yes && !(await confirm(`Remove the ${what} from the keychain?`)))
    return print("Nothing was changed.");
  const isRemoved = await createKeychain().remove(target.ref);
  print(isRemoved ? `Removed the ${what}.` : `There is no ${what} in the keychain.`);
  if (isRemoved && (await notifyDaemon("keys-changed"))) print("The running daemon no longer uses it.");
}
