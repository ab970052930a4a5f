import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { scratchDirectory } from "./keychain-session.ts";

/** A configuration whose only upstream has its key in a file. */
export interface KeyFile {
  path: string;
  config: { upstreams: { default: { baseUrl: string; keySource: { file: string } } } };
  /** Puts another key in. */
  write(key: string): void;
}

/** Puts `key` into a file of mode 0600 and names it in a configuration for the upstream at `baseUrl`. */
export function keyInFile(t: TestContext, baseUrl: string, key: string): KeyFile {
  const path = join(scratchDirectory(t), "key");
  const write = (value: string) => writeFileSync(path, `${value}\n`, { mode: 0o600 });
  write(key);
  return { path, config: { upstreams: { default: { baseUrl, keySource: { file: path } } } }, write };
}

/** A key of its own in each source that a configuration can name besides the keychain. */
export interface KeyInEachSource {
  /** The `keySource` of each, by a name that an upstream can have. */
  sources: Record<string, object>;
  /** The keys, in the order of the sources. */
  keys: string[];
  /** What the daemon needs to find the systemd credential. */
  env: { CREDENTIALS_DIRECTORY: string };
}

/** Puts a key into each of them. */
export function keyInEachSource(t: TestContext): KeyInEachSource {
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
