import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { NO_REACH } from "../../src/core/policy/tool-reach.ts";
import { CONNECTABLE_TOOLS } from "../../src/tools/all.ts";
import type { Seeds } from "./seeds.ts";

/** The mode that some tools give their files, and that differs from the default. */
const SEED_MODE = 0o600;

/** Writes a tool's files into its home. */
export function writeSeeds(home: string, seeds: Seeds): void {
  for (const [path, content] of Object.entries(seeds)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content, { mode: SEED_MODE });
  }
}

/** Lists the files that connecting a tool writes in this home. */
export function listFiles(tool: string, home: string): string[] {
  const recipe = CONNECTABLE_TOOLS.find((one) => one.name === tool);
  const on = {
    home,
    env: { SHELL: "/bin/bash" },
    platform: process.platform,
    directory: home,
    exists: existsSync,
    list: () => [],
  };
  const to = {
    baseUrl: "http://127.0.0.1",
    credential: "any",
    isToken: false,
    model: "any",
    smallModel: null,
    isFirstParty: false,
    account: "key" as const,
    reach: NO_REACH,
  };
  return recipe?.plan(on, to, "user").files.map(({ path }) => path) ?? [];
}

/** The content and mode of each file; null for a missing one. */
export function snapshot(paths: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(paths.map((path) => [path, existsSync(path) ? describeFile(path) : null]));
}

/** Removes the tool's name from the path and from the place of the key, as in a manual configuration. */
export function removeMark(tool: string, home: string): void {
  for (const path of listFiles(tool, home).filter((file) => existsSync(file))) {
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll(`/t/${tool}`, "").replaceAll(`tk-${tool}`, "placeholder"));
  }
}

function describeFile(path: string): string {
  return `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, "latin1")}`;
}
