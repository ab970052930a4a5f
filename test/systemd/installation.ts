import { execFileSync, type ExecFileSyncOptions } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Installs the package as it would be published, globally, with the newest dependencies that it allows. `prefix` then has
 * `bin/tollkeeper` and `lib/node_modules/tollkeeper`. No install scripts run, since keytar ships its binaries.
 */
export function installPackage(prefix: string): void {
  const options: ExecFileSyncOptions = {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 180_000,
  };
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", prefix], options);
  const tarball = readdirSync(prefix).find((file) => file.endsWith(".tgz")) ?? "";
  const flags = ["--silent", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--omit=dev"];
  execFileSync("npm", ["install", "--global", "--prefix", prefix, ...flags, join(prefix, tarball)], options);
}
