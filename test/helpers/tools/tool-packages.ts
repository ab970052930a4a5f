import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** What npm is to install, at the versions that facts/clients.md section 2 tells of. */
export interface ToolPackage {
  package: string;
  version: string;
  /** Others that are needed beside it: `name@version`. */
  beside?: readonly string[];
}

/** How packages with native programs call this machine: `linux-x64`. */
export const PLATFORM = `${process.platform}-${process.arch}`;

const NODE_22: ToolPackage = { package: `node-${PLATFORM}`, version: "22.23.3" };

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/tollkeeper-tools/", import.meta.url));

/** Half a gigabyte may have to come. */
const INSTALL_LIMIT_MS = 300_000;

const installing = new Map<string, Promise<string>>();

/**
 * Installs packages without running a script of theirs, once for all test runs; resolves to their node_modules. Rejects
 * where npm cannot deliver them; a registry that cannot be reached is waited for once and not in every test.
 */
export function installPackages(what: ToolPackage): Promise<string> {
  const directory = join(CACHE, `${what.package.replace(/^.*\//, "")}-${what.version}`);
  const known = installing.get(directory) ?? install(directory, what);
  installing.set(directory, known);
  return known;
}

/** A Node that runs what asks for version 22: this one, or another that npm has. */
export async function findNode22(): Promise<string> {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  return join(await installPackages(NODE_22), NODE_22.package, "bin", "node");
}

/** Another test run may be at it, too: what is there is whole. */
async function install(directory: string, what: ToolPackage): Promise<string> {
  const modules = join(directory, "node_modules");
  if (existsSync(join(modules, what.package))) return modules;
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  try {
    await npmInstall(draft, [`${what.package}@${what.version}`, ...(what.beside ?? [])]);
    if (!existsSync(directory)) renameSync(draft, directory);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return modules;
}

async function npmInstall(directory: string, packages: readonly string[]): Promise<void> {
  const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  const args = ["install", "--prefix", directory, "--fetch-retries=1", ...flags, ...packages];
  try {
    await promisify(execFile)("npm", args, { timeout: INSTALL_LIMIT_MS });
  } catch (cause) {
    const { message, stderr = "" } = cause as Error & { stderr?: string };
    const said = stderr.split("\n").filter((line) => line.startsWith("npm error"));
    throw new Error(said.slice(0, 4).join("; ") || message, { cause });
  }
}
