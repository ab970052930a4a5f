import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Pinned, so that figures of different days are comparable. */
const MANIFEST = {
  private: true,
  dependencies: { "@portkey-ai/gateway": "1.15.2", "@musistudio/claude-code-router": "2.0.0" },
  // With newer compatible versions Portkey 1.15.2 responds to every stream with 500: it modifies the headers of fetch, which they no
  // longer copy.
  overrides: { "@hono/node-server": "1.13.8" },
};

/** Installs the gateways from npm into the user's cache once. Throws when npm fails. */
export function installGateways(): void {
  const manifest = JSON.stringify(MANIFEST, null, 2);
  const isInstalled = Object.entries(MANIFEST.dependencies).every(
    ([name, version]) => installedVersion(name) === version,
  );
  if (isInstalled) return;
  const directory = cacheDirectory();
  console.error(`installing into ${directory}: ${Object.keys(MANIFEST.dependencies).join(", ")}`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), manifest);
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
  const { status } = spawnSync("npm", args, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`npm could not install the gateways into ${directory}`);
}

/** The path of a file in an installed package. */
export function packageFile(name: string, file: string): string {
  return join(cacheDirectory(), "node_modules", name, file);
}

/** The version of an installed package; null when it is not installed. */
export function installedVersion(name: string): string | null {
  try {
    return (JSON.parse(readFileSync(packageFile(name, "package.json"), "utf8")) as { version: string })
      .version;
  } catch {
    return null;
  }
}

function cacheDirectory(): string {
  return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "tollkeeper", "bench");
}
