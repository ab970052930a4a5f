import type { PresentKey } from "../../connect/connection.ts";
import { keyRefOf, upstreamOf, type Config, type Upstream } from "../../core/config/config.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { describeKeySource, type KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { WritableKeyStore } from "../../ports.ts";
import { shorten } from "../hints.ts";
import { setKeyWords } from "../keys/target.ts";
import { here } from "../../adapters/paths.ts";

/** A real key, which stands where a placeholder shall stand, on its way into the keychain. */
export interface KeyMove {
  /** Where it stands and where it goes, in one line. */
  words: string;
  /** Is it in the keychain already? */
  isStored: boolean;
  /** Puts it there; does nothing where it is already. */
  store(): Promise<void>;
}

/**
 * Works out what becomes of the keys that connecting would take away; null where there are none. Stores nothing.
 * @throws Failure where they cannot be kept: no upstream, another key in their place, or two that differ
 */
export async function planKeyMove(
  keys: readonly PresentKey[],
  tool: string,
  config: Config,
  keychain: WritableKeyStore,
): Promise<KeyMove | null> {
  const [first] = keys;
  if (first === undefined) return null;
  const where = keys.map(placeOf).join(" and ");
  const upstream = upstreamOf(config, tool);
  if (upstream === null) throw noUpstream(where);
  const ref = refFor(config, upstream, tool);
  if (ref.source.kind !== "keychain") throw otherSource(where, upstream, ref);
  if (keys.some(({ key }) => !key.isSameAs(first.key))) throw twoKeys(where, ref, upstream);
  const stored = await readStored(keychain, ref);
  if (stored !== null && !stored.isSameAs(first.key)) throw anotherKey(where, ref, upstream);
  const isStored = stored !== null;
  const fate = isStored ? "is in the keychain already" : "goes into the keychain";
  return {
    words: `the key in ${where} ${fate}, as ${describe(ref, upstream)}`,
    isStored,
    store: async () => (isStored ? undefined : keychain.write(ref, first.key)),
  };
}

function refFor({ tools }: Config, upstream: Upstream, tool: string): KeyRef {
  return keyRefOf(upstream, (Object.hasOwn(tools, tool) ? tools[tool]?.key : null) ?? null);
}

async function readStored(keychain: WritableKeyStore, ref: KeyRef): Promise<Secret | null> {
  try {
    return await keychain.read(ref);
  } catch (error) {
    if (error instanceof KeyFailure && error.code === "missing") return null;
    throw error;
  }
}

function placeOf({ path, setting }: PresentKey): string {
  return `${shorten(path, here().home)} (${setting})`;
}

function describe(ref: KeyRef, { name }: Upstream): string {
  return `"${ref.name}" for ${ref.origin} (upstream ${name})`;
}

function noUpstream(where: string): Failure {
  return new Failure(
    `a real key stands in ${where}, and no upstream is configured that it could be kept for`,
    "add the upstream first: tollkeeper config edit",
  );
}

function otherSource(where: string, { name }: Upstream, { source }: KeyRef): Failure {
  return new Failure(
    `a real key stands in ${where}, and the keys of upstream ${name} do not live in the keychain, but in: ${describeKeySource(source)}`,
    "take it out of there first, and keep it where it is needed",
  );
}

function twoKeys(where: string, ref: KeyRef, upstream: Upstream): Failure {
  return new Failure(
    `different keys stand in ${where}, and one alone can be kept as ${describe(ref, upstream)}`,
    `store the right one: tollkeeper ${setKeyWords({ ref, upstream })}; then take both out of there, and connect again`,
  );
}

function anotherKey(where: string, ref: KeyRef, upstream: Upstream): Failure {
  return new Failure(
    `the key in ${where} is another one than the keychain has as ${describe(ref, upstream)}`,
    `store the right one: tollkeeper ${setKeyWords({ ref, upstream })}; then take the other one out of there, and connect again`,
  );
}
