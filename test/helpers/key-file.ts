import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { scratchDirectory } from "./keyring.ts";

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
