import assert from "node:assert/strict";
import { checkConfig } from "../../../src/core/config/config.ts";
import type { Config } from "../../../src/core/config/config.ts";

/** Resolves the content of a configuration file, which must be valid. */
export function validConfig(file: unknown): Config {
  const result = checkConfig(file, "/home/ada");
  assert.ok(result.ok, JSON.stringify(result));
  return result.config;
}
