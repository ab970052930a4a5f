import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PackedVersion } from "../helpers/package/packed-version.ts";

/** The variable that tells the tests the prefix of the installation in the container. */
export const PREFIX_VARIABLE = "TOLLKEEPER_TEST_PREFIX";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const LIMIT_MS = 180_000;

/**
 * Installs the package as it would be published, globally, with the newest dependencies that it allows. `prefix` then has
 * `bin/tollkeeper` and `lib/node_modules/tollkeeper`. No install scripts run, since keytar ships its binaries.
 */
export async function installPackage(prefix: string): Promise<void> {
  await npm("pack", "--ignore-scripts", "--pack-destination", prefix);
  const tarball = readdirSync(prefix).find((file) => file.endsWith(".tgz")) ?? "";
  await installGlobally(prefix, join(prefix, tarball), "--prefer-offline");
}

/** Installs a packed version over the one in the container, without a network: the dependencies come from npm's cache. */
export async function upgradeContainer({ tarball }: PackedVersion): Promise<void> {
  const prefix = process.env[PREFIX_VARIABLE];
  if (prefix === undefined) throw new Error("no container: these tests are run by `npm run test:systemd`");
  await installGlobally(prefix, tarball, "--offline");
}

function installGlobally(prefix: string, tarball: string, network: string): Promise<void> {
  const flags = ["--ignore-scripts", network, "--no-audit", "--no-fund", "--omit=dev"];
  return npm("install", "--global", "--prefix", prefix, ...flags, tarball);
}

/** Does not block: clients and upstreams of a test run in the same process. */
async function npm(...args: string[]): Promise<void> {
  const child = spawn("npm", [...args, "--silent"], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: LIMIT_MS,
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`npm ${args[0]} failed with ${code}`);
}
