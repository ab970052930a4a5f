import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** A key file, and a configuration whose only upstream reads its key from it. */
export interface KeyFile {
  path: string;
  config: { upstreams: { default: { baseUrl: string; keySource: { file: string } } } };
  /** Replaces the key. */
  write(key: string): void;
}

/** Writes `key` to a file of mode 0600, and returns a configuration that uses it for the upstream at `baseUrl`. */
export function writeKeyFile(t: TestContext, baseUrl: string, key: string): KeyFile {
  const path = join(scratchDirectory(t), "key");
  const write = (value: string) => writeFileSync(path, `${value}\n`, { mode: 0o600 });
  write(key);
  return { path, config: { upstreams: { default: { baseUrl, keySource: { file: path } } } }, write };
}

/** One key in each kind of source that a configuration can name besides the keychain. */
interface KeyInEachSource {
  /** The `keySource` values, by a valid upstream name. */
  sources: Record<string, object>;
  /** The keys, in the order of `sources`. */
  keys: string[];
  /** What the daemon needs to find the systemd credential. */
  env: { CREDENTIALS_DIRECTORY: string };
}

/** Writes a key to each kind of source. */
export function writeKeyToEachSource(t: TestContext): KeyInEachSource {
  const directory = scratchDirectory(t);
  const path = (name: string) => join(directory, name);
  const sources = {
    file: { file: path("file") },
    command: { command: ["cat", path("command")] },
    credential: { credential: "credential" },
  };
  const keys = Object.keys(sources).map((name) => `key-of-the-${name}`);
  Object.keys(sources).forEach((name, i) => writeFileSync(path(name), `${keys[i]}\n`, { mode: 0o600 }));
  return { sources, keys, env: { CREDENTIALS_DIRECTORY: directory } };
}
