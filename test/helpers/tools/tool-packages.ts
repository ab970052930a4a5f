import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** A package for npm to install, at the version that docs/wire.md section 2 describes. */
export interface ToolPackage {
  package: string;
  version: string;
  /** Other packages that it needs: `name@version`. */
  additional?: readonly string[];
}

/** The platform in the names of packages with native programs: `linux-x64`. */
export const PLATFORM = `${process.platform}-${process.arch}`;

const NODE_22: ToolPackage = { package: `node-${PLATFORM}`, version: "22.23.3" };

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/tollkeeper-tools/", import.meta.url));

/** A package can be half a gigabyte. */
const INSTALL_LIMIT_MS = 300_000;

const installing = new Map<string, Promise<string>>();

/**
 * Installs packages without running their scripts, once for all test runs. Resolves to their node_modules; rejects when
 * npm cannot install them. The result is kept, so an unreachable registry delays one test only.
 */
export function installPackages(toolPackage: ToolPackage): Promise<string> {
  const directory = join(CACHE, `${toolPackage.package.replace(/^.*\//, "")}-${toolPackage.version}`);
  const known = installing.get(directory) ?? install(directory, toolPackage);
  installing.set(directory, known);
  return known;
}

/** Returns the path of a Node of version 22 or later: this one, or one from npm. */
export async function findNode22(): Promise<string> {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  return join(await installPackages(NODE_22), NODE_22.package, "bin", "node");
}

/** Another test run may install the same: a directory appears under its name only once it is complete. */
async function install(directory: string, toolPackage: ToolPackage): Promise<string> {
  const modules = join(directory, "node_modules");
  if (existsSync(join(modules, toolPackage.package))) return modules;
  console.log(`downloading ${toolPackage.package} ${toolPackage.version} from npm into ${CACHE}, once`);
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  try {
    await npmInstall(draft, [
      `${toolPackage.package}@${toolPackage.version}`,
      ...(toolPackage.additional ?? []),
    ]);
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
    const errors = stderr.split("\n").filter((line) => line.startsWith("npm error"));
    throw new Error(errors.slice(0, 4).join("; ") || message, { cause });
  }
}
