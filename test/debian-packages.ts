import { spawnSync, type SpawnSyncOptions } from "node:child_process";
import { existsSync } from "node:fs";

/** A program the tests use, and the Debian package that provides it. */
export interface NeededProgram {
  program: string;
  debianPackage: string;
}

/** True when the program is on this process's PATH. */
export function isInstalled(program: string): boolean {
  return (process.env["PATH"] ?? "").split(":").some((directory) => existsSync(`${directory}/${program}`));
}

/** Installs the missing programs when running as root on Debian; otherwise does nothing. */
export function installMissing(needed: readonly NeededProgram[]): void {
  const missing = needed.filter(({ program }) => !isInstalled(program));
  if (missing.length === 0 || process.getuid?.() !== 0 || !isInstalled("apt-get")) return;
  const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))];
  console.log(`installing for the tests: ${packages.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options: SpawnSyncOptions = { env, stdio: ["ignore", "ignore", "inherit"] };
  spawnSync("apt-get", ["update", "-q"], options);
  spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], options);
}
