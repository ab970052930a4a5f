import type { OverwrittenKey } from "../../connect/connection.ts";
import type { Config, Upstream } from "../../core/config/config.ts";
import { keyNameOfTool, upstreamsForTool } from "../../core/policy/tool-access.ts";
import { resolveKeyRef } from "../../core/policy/configured-keys.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { describeKeySource, type KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { WritableKeyStore } from "../../ports.ts";
import { displayPath } from "../terminal/format.ts";
import { currentHost } from "../../adapters/paths.ts";

/** Moves a real key from a tool's settings into the keychain. */
interface KeyMigration {
  /** Where the key is and where it goes, in one line. */
  description: string;
  /** Stores the key; null when the keychain already has it. */
  store: (() => Promise<void>) | null;
}

/**
 * Plans where to store the keys that connecting overwrites; null when there are none. Stores nothing.
 * @throws Failure when they cannot be stored: no upstream, another key in the keychain, or keys that differ
 */
export async function planKeyMigration(
  keys: readonly OverwrittenKey[],
  tool: string,
  config: Config,
  keychain: WritableKeyStore,
): Promise<KeyMigration | null> {
  const [first] = keys;
  if (first === undefined) return null;
  const where = keys.map(locate).join(" and ");
  const [upstream, ...others] = upstreamsForTool(config, tool);
  if (upstream === undefined) throw noUpstream(where);
  if (others.length > 0) throw severalUpstreams(where, [upstream, ...others]);
  const ref = refForTool(tool, upstream, config);
  if (ref.source.kind !== "keychain") throw otherSource(where, upstream, ref);
  if (keys.some(({ key }) => !key.isSameAs(first.key))) throw twoKeys(keys, ref, upstream);
  const stored = await readStored(keychain, ref);
  if (stored !== null && !stored.isSameAs(first.key)) throw anotherKey(where, ref, upstream);
  const destination = stored === null ? "moves to the keychain" : "is already in the keychain";
  return {
    description: `the key in ${where} ${destination}, as ${describe(ref, upstream)}`,
    store: stored === null ? () => keychain.write(ref, first.key) : null,
  };
}

/** Returns what to do with a key in a tool's file that connecting does not move. It may be another service's. */
export function adviseOnKey(tool: string, config: Config): string {
  const [upstream, ...others] = upstreamsForTool(config, tool);
  const ref = upstream === undefined || others.length > 0 ? null : refForTool(tool, upstream, config);
  if (ref?.source.kind !== "keychain") return "remove it if no other program needs it";
  return `if it is a key for ${ref.origin}, store it with: tollkeeper ${ref.setArguments}; then remove it there`;
}

function refForTool(tool: string, upstream: Upstream, config: Config): KeyRef {
  return resolveKeyRef(upstream, keyNameOfTool(config, tool));
}

async function readStored(keychain: WritableKeyStore, ref: KeyRef): Promise<Secret | null> {
  try {
    return await keychain.read(ref);
  } catch (error) {
    if (error instanceof KeyFailure && error.code === "missing") return null;
    throw error;
  }
}

function locate({ path, setting }: OverwrittenKey): string {
  return `${displayPath(path, currentHost().home)} (${setting})`;
}

function describe(ref: KeyRef, { name }: Upstream): string {
  return `"${ref.name}" for ${ref.origin} (upstream ${name})`;
}

function noUpstream(where: string): Failure {
  return new Failure(
    `${where} contains a real key, but no upstream is configured for it`,
    "set up the upstream first: tollkeeper setup",
  );
}

/** The key would go to whichever of them its requests go to, which need not be the one that it is for. */
function severalUpstreams(where: string, upstreams: readonly Upstream[]): Failure {
  const names = upstreams.map(({ name }) => name);
  return new Failure(
    `${where} contains a real key, and this tool may use several upstreams: ${names.join(", ")}`,
    `store it for the right one with: tollkeeper key set --upstream ${names[0]}; then remove it from the file, and connect again`,
  );
}

function otherSource(where: string, { name }: Upstream, { source }: KeyRef): Failure {
  if (source.kind === "none") {
    return new Failure(
      `${where} contains a real key, but upstream ${name} takes no key`,
      "remove the key from that file, then connect again",
    );
  }
  return new Failure(
    `${where} contains a real key, but upstream ${name} takes its key from another source: ${describeKeySource(source)}`,
    "remove the key from that file, then connect again",
  );
}

function twoKeys(keys: readonly OverwrittenKey[], ref: KeyRef, upstream: Upstream): Failure {
  const [used, ...others] = keys.filter(({ isEmptied }) => !isEmptied);
  const isKnown = used !== undefined && others.length === 0;
  const winner = isKnown ? ` (the tool uses ${used.setting})` : "";
  return new Failure(
    `${keys.map(locate).join(" and ")} contain different keys${winner}, and only one can be stored as ${describe(ref, upstream)}`,
    `store the right one with: tollkeeper ${ref.setArguments}; then remove both from the files, and connect again`,
  );
}

function anotherKey(where: string, ref: KeyRef, upstream: Upstream): Failure {
  return new Failure(
    `the key in ${where} differs from the one stored as ${describe(ref, upstream)}`,
    `if the stored key is right, remove the other one from the file; if not, replace it with: tollkeeper ${ref.setArguments} --replace; then connect again`,
  );
}
