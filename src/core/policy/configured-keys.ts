import type { Config, Upstream } from "../config/config.ts";
import { OTHERS } from "../config/names.ts";
import { keyNameOfTool, upstreamsForTool } from "./tool-access.ts";
import { identifyKey, type KeyRef } from "../secrets/key-source.ts";

/** A key that the configuration names. */
export interface ConfiguredKey {
  /** The first upstream that uses the key. */
  upstream: Upstream;
  ref: KeyRef;
  /** The configured tools that use it, and `"*"` where all others use it by their group. Without one they use the upstream's own. */
  usedBy: string[];
  /** True when an upstream itself names it, so that the other tools use it too. */
  isOwn: boolean;
}

/**
 * Returns the reference to an upstream's key. `keyName` null selects the key that the upstream itself names. So does a source
 * other than the keychain, which has only that one.
 */
export function resolveKeyRef(upstream: Upstream, keyName: string | null): KeyRef {
  const { origin, keySource: source } = upstream;
  const name = source.kind === "keychain" ? (keyName ?? upstream.key) : upstream.key;
  return { origin, name, source, setArguments: writeSetArguments(upstream, name) };
}

/** Leaves out the defaults of `key set`: the upstream "default", and an upstream's own key. */
function writeSetArguments(upstream: Upstream, name: string): string {
  const key = name === upstream.key ? "" : ` ${name}`;
  return `key set${key}${upstream.name === "default" ? "" : ` --upstream ${upstream.name}`}`;
}

/**
 * Lists every key that the configuration names, once each: upstreams of one origin share keys of the same name. An upstream without a key is
 * listed with the source `none`, and one that passes the own keys of tools is not.
 */
export function listConfiguredKeys(config: Config): ConfiguredKey[] {
  const keys = new Map<string, ConfiguredKey>();
  const add = (upstream: Upstream, keyName: string | null, usedBy: string[]) => {
    if (upstream.credential === "client") return;
    const ref = resolveKeyRef(upstream, keyName);
    const identity = identifyKey(ref);
    const known = keys.get(identity);
    if (known === undefined) keys.set(identity, { upstream, ref, usedBy, isOwn: usedBy.length === 0 });
    else known.usedBy.push(...usedBy);
  };
  for (const upstream of Object.values(config.upstreams)) add(upstream, null, []);
  const names = Object.keys(config.tools);
  if (keyNameOfTool(config, OTHERS) !== null) names.push(OTHERS);
  for (const name of names) {
    for (const upstream of upstreamsForTool(config, name)) add(upstream, keyNameOfTool(config, name), [name]);
  }
  return [...keys.values()];
}

/**
 * Leaves out the missing keys that nothing may need. A tool's own key belongs at each upstream that the tool may use, but all of
 * its requests may go to one of them: where it is stored, or else at the first.
 */
export function leaveOutUnneeded<Key extends Pick<ConfiguredKey, "ref" | "isOwn">>(
  keys: readonly Key[],
  isMissing: (key: Key) => boolean,
): Key[] {
  return keys.filter((key, at) => {
    if (key.isOwn || !isMissing(key)) return true;
    const isOther = (other: Key) => other !== key && other.ref.name === key.ref.name && !other.isOwn;
    return !keys.some((other, index) => isOther(other) && (index < at || !isMissing(other)));
  });
}
