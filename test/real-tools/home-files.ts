import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CONNECTABLE_TOOLS } from "../../src/tools/all.ts";
import type { Seeds } from "./seeds.ts";

/** As some tools make theirs; no file is made like this by itself. */
const SEED_MODE = 0o600;

/** Puts a tool's files below its home. */
export function seed(home: string, seeds: Seeds): void {
  for (const [path, content] of Object.entries(seeds)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content, { mode: SEED_MODE });
  }
}

/** Every file that connecting a tool writes in this home. */
export function filesOf(tool: string, home: string): string[] {
  const recipe = CONNECTABLE_TOOLS.find((one) => one.name === tool);
  const on = {
    home,
    env: { SHELL: "/bin/bash" },
    platform: process.platform,
    directory: home,
    exists: existsSync,
  };
  const to = { baseUrl: "http://127.0.0.1", credential: "any", isToken: false, model: "any" };
  return recipe?.plan(on, to, "user").files.map(({ path }) => path) ?? [];
}

/** What is in each file, byte for byte, and its mode; null where there is none. */
export function snapshot(paths: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(paths.map((path) => [path, existsSync(path) ? describe(path) : null]));
}

/** As somebody would have it who leads the tool here by hand: without the tool's name in the path or in the key's place. */
export function takeMarkOff(tool: string, home: string): void {
  for (const path of filesOf(tool, home).filter((file) => existsSync(file))) {
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll(`/t/${tool}`, "").replaceAll(`tk-${tool}`, "placeholder"));
  }
}

function describe(path: string): string {
  return `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, "latin1")}`;
}
