import { createKeychain, withoutElsewhere } from "../../adapters/keychain.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { attempt } from "../attempt.ts";
import type { Removal } from "./removal.ts";

/** `key remove` needs a configuration that names the key; this finds it without one. */
const AGAIN = "unlock the keychain, then type: tollkeeper uninstall";

/** Finds every key in the keychain that tollkeeper has stored, whether or not the configuration names it. */
export async function findStoredKeys(config: Config | null): Promise<Removal[]> {
  const keychain = createKeychain();
  const { value: keys, failure } = await attempt(KeyFailure, () => keychain.list());
  if (failure !== null) return mayHaveKeys(config, failure) ? [unreadable(failure)] : [];
  const sorted = keys.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return sorted.map(({ name, origin }) => ({
    label: "key",
    what: `"${name}" for ${origin}`,
    byHand: AGAIN,
    async remove() {
      await keychain.remove({ name, origin, source: { kind: "keychain" }, setArguments: "key set" });
    },
  }));
}

/** Where no keychain can be reached and the configuration needs none, as on a server, there is nothing to report. */
function mayHaveKeys(config: Config | null, { code }: KeyFailure): boolean {
  const upstreams = Object.values(config?.upstreams ?? {});
  return code !== "unavailable" || upstreams.some(({ keySource }) => keySource.kind === "keychain");
}

function unreadable(failure: KeyFailure): Removal {
  return {
    label: "keys",
    what: "in the keychain",
    byHand: AGAIN,
    remove() {
      throw new Failure(failure.message, withoutElsewhere(failure.hint ?? AGAIN));
    },
  };
}
