import { configFailure, readConfigFile } from "../../adapters/config-file.ts";
import { repeatable } from "../../core/config/problem.ts";
import { keyRefOf } from "../../core/config/config.ts";
import type { Config, Upstream } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import { configPath } from "../../adapters/paths.ts";

/** What every `key` command may be told. */
export interface KeyArguments {
  config?: string | undefined;
  upstream: string;
  name?: string | undefined;
}

/** The key that a command is about, and the upstream that it belongs to. */
export interface KeyTarget {
  config: Config;
  upstream: Upstream;
  ref: KeyRef;
}

/** The configuration in the file. @throws Failure listing everything that is wrong with it */
export async function loadConfig(path = configPath()): Promise<Config> {
  const reading = await readConfigFile(path);
  if (reading.ok) return reading.config;
  throw configFailure(path, reading.problems);
}

/** Finds the key that the arguments name: by default the upstream's own. */
export async function findKey({ config: path, upstream: name, name: key }: KeyArguments): Promise<KeyTarget> {
  const config = await loadConfig(path);
  const names = Object.keys(config.upstreams);
  const upstream = config.upstreams[name];
  if (names.length === 0 || upstream === undefined) throw noUpstream(name, names);
  return { config, upstream, ref: keyRefOf(upstream, key ?? null) };
}

/** What must follow `tollkeeper` to store a key where it is looked for. */
export function setKeyWords({ upstream, ref }: Pick<KeyTarget, "upstream" | "ref">): string {
  const name = ref.name === upstream.key ? "" : ` ${ref.name}`;
  return `key set${name}${upstream.name === "default" ? "" : ` --upstream ${upstream.name}`}`;
}

function noUpstream(name: string, names: readonly string[]): Failure {
  if (names.length === 0) {
    return new Failure(
      "no upstream is configured, and the built-in sandbox needs no key",
      "add an upstream first: tollkeeper config edit",
    );
  }
  return new Failure(
    `no upstream is called "${repeatable(name)}"`,
    `the configuration has: ${names.join(", ")}`,
  );
}
