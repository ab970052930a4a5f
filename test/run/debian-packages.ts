import { spawnSync, type SpawnSyncOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";

/** A program the tests use, and the Debian package that provides it. */
export interface NeededProgram {
  program: string;
  debianPackage: string;
}

/** True when the program is on this process's PATH. */
export function isInstalled(program: string): boolean {
  // Users may lack the directory of servers.
  return `${process.env["PATH"] ?? ""}:/usr/sbin`
    .split(":")
    .some((directory) => existsSync(`${directory}/${program}`));
}

/** Installs the missing programs as root on Debian, with `CI=true` or after asking; otherwise does nothing. */
export async function offerToInstall(needed: readonly NeededProgram[]): Promise<void> {
  const packages = missingPackages(needed);
  if (packages.length === 0 || !canInstall()) return;
  if (process.env["CI"] === "true" || (await isConfirmed(packages))) install(packages);
}

/** Installs the missing programs as root on Debian; otherwise does nothing. For a suite that says so before it starts. */
export function installMissing(needed: readonly NeededProgram[]): void {
  const packages = missingPackages(needed);
  if (packages.length > 0 && canInstall()) install(packages);
}

function missingPackages(needed: readonly NeededProgram[]): string[] {
  const missing = needed.filter(({ program }) => !isInstalled(program));
  return [...new Set(missing.map(({ debianPackage }) => debianPackage))];
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && isInstalled("apt-get");
}

async function isConfirmed(packages: readonly string[]): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Install ${packages.join(" ")} with apt-get for the tests? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function install(packages: readonly string[]): void {
  console.log(`installing for the tests: ${packages.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options: SpawnSyncOptions = { env, stdio: ["ignore", "ignore", "inherit"] };
  spawnSync("apt-get", ["update", "-q"], options);
  spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], options);
}
