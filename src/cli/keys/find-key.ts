import type { Config, Upstream } from "../../core/config/config.ts";
import { formatConfigPath, sanitizeText } from "../../core/config/problem.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { listConfiguredKeys, resolveKeyRef } from "../../core/policy/configured-keys.ts";
import { describeKeySource, SEND_KEY, type KeyRef } from "../../core/secrets/key-source.ts";
import { loadConfig } from "../load-config.ts";

/** Arguments that every `key` subcommand takes. */
export interface KeyArguments {
  config?: string | undefined;
  /** Its name; undefined for the only one, or the one called "default". */
  upstream?: string | undefined;
  name?: string | undefined;
}

/** The key a command is about, with the upstream it belongs to. */
export interface KeyTarget {
  config: Config;
  upstream: Upstream;
  ref: KeyRef;
}

/**
 * Finds the key that the arguments name; without a name, the upstream's own key.
 * @throws Failure when the configuration is not valid or has no such upstream
 */
export async function findKey({ config: path, upstream: name, name: key }: KeyArguments): Promise<KeyTarget> {
  const config = await loadConfig(path);
  const names = Object.keys(config.upstreams);
  if (names.length === 0) {
    const message = "no upstream is configured, and the built-in sandbox needs no key";
    throw new Failure(message, "set up an upstream and its key with: tollkeeper setup");
  }
  if (name === undefined && key !== undefined) refuseUpstreamAsKey(key, config);
  const upstream = name === undefined ? onlyUpstream(config) : config.upstreams[name];
  if (upstream === undefined) {
    const message =
      name === undefined
        ? "the configuration has several upstreams, and each has its own key"
        : `no upstream is called "${sanitizeText(name)}"`;
    throw new Failure(
      message,
      `the upstreams are: ${names.join(", ")}; to choose one, add: --upstream ${findNearest(name ?? "", names) ?? names[0]}`,
    );
  }
  if (upstream.credential === "client") throw passesOwnKeys(upstream);
  return { config, upstream, ref: resolveKeyRef(upstream, key ?? null) };
}

function passesOwnKeys({ name }: Upstream): Failure {
  const path = formatConfigPath(["upstreams", name, "credential"]);
  return new Failure(
    `upstream ${name} takes only the keys that tools send, so none is stored for it`,
    `to have a stored key pay there, type: ${formatCommand(["tollkeeper", "config", "unset", path])}`,
  );
}

/** The name of an upstream is probably meant as one, unless a key is called so, too. */
function refuseUpstreamAsKey(name: string, config: Config): void {
  if (!Object.hasOwn(config.upstreams, name)) return;
  if (listConfiguredKeys(config).some(({ ref }) => ref.name === name)) return;
  throw new Failure(
    `"${name}" is an upstream, and no key is called so`,
    `for the key of that upstream, type in its place: --upstream ${name}`,
  );
}

/** Returns the upstream that a command is about which names none. Of several, only the one called "default" is unmistakable. */
function onlyUpstream({ upstreams }: Config): Upstream | undefined {
  const [first, ...others] = Object.values(upstreams);
  return others.length === 0 ? first : upstreams["default"];
}

/** Refuses keys that are not in the keychain: other sources are not ours to write to, and a key beside them would be unused. */
export function requireKeychainSource({ upstream, ref }: Pick<KeyTarget, "upstream" | "ref">): void {
  if (ref.source.kind === "keychain") return;
  if (ref.source.kind === "none") {
    throw new Failure(`upstream ${upstream.name} takes no key ("auth": "none")`, SEND_KEY);
  }
  throw new Failure(
    `the keys of upstream ${upstream.name} are not in the keychain, but in: ${describeKeySource(ref.source)}`,
    'change it there; or, to use the keychain, remove "keySource" with: tollkeeper config edit',
  );
}
