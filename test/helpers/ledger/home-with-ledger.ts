import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { prepareHome } from "../daemon/daemon.ts";

/** Creates a home without a daemon, whose ledger has these files. Commands count days in UTC there. */
export function homeWithLedger(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  config: object = {},
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof prepareHome> & { directory: string } {
  const prepared = prepareHome(t, { config, env: { TZ: "UTC", ...env } });
  const directory = join(prepared.home, "state", "tollkeeper", "ledger");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(directory, name), text, { mode: 0o600 });
  return { ...prepared, directory };
}
