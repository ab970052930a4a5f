import { execFileSync, type ExecFileSyncOptions } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PackedVersion } from "../helpers/package/packed-version.ts";

/** The variable that tells the tests the prefix of the installation in the container. */
export const PREFIX_VARIABLE = "TOLLKEEPER_TEST_PREFIX";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const OPTIONS: ExecFileSyncOptions = { stdio: ["ignore", "ignore", "inherit"], timeout: 180_000 };

/**
 * Installs the package as it would be published, globally, with the newest dependencies that it allows. `prefix` then has
 * `bin/tollkeeper` and `lib/node_modules/tollkeeper`. No install scripts run, since keytar ships its binaries.
 */
export function installPackage(prefix: string): void {
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", prefix];
  execFileSync("npm", pack, { ...OPTIONS, cwd: ROOT });
  const tarball = readdirSync(prefix).find((file) => file.endsWith(".tgz")) ?? "";
  installTarball(prefix, join(prefix, tarball), "--prefer-offline");
}

/** Installs globally. With `--offline`, the dependencies come from npm's cache. */
function installTarball(prefix: string, tarball: string, network: "--offline" | "--prefer-offline"): void {
  const flags = ["--silent", "--ignore-scripts", network, "--no-audit", "--no-fund", "--omit=dev"];
  execFileSync("npm", ["install", "--global", "--prefix", prefix, ...flags, tarball], OPTIONS);
}

/** Installs a packed version over the one in the container, without a network. */
export function upgradeContainer({ tarball }: PackedVersion): void {
  const prefix = process.env[PREFIX_VARIABLE];
  if (prefix === undefined) throw new Error("no container: these tests are run by `npm run test:systemd`");
  installTarball(prefix, tarball, "--offline");
}
