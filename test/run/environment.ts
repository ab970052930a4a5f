import { mkdirSync } from "node:fs";
import { join } from "node:path";

/**
 * What the tests may see of the caller's environment. Everything else stays outside: the home directory, the session bus
 * and its keyring, proxies, keys, options for Node.
 */
const PASSED_VARIABLES = ["PATH", "TERM", "TMPDIR", "CI"];

/** Returns the environment of a test run, with a home directory of its own below `scratch`. */
export function testEnvironment(scratch: string): Record<string, string> {
  const home = join(scratch, "home");
  mkdirSync(home, { recursive: true });
  const env: Record<string, string> = { HOME: home, LANG: "C.UTF-8" };
  for (const name of PASSED_VARIABLES) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
