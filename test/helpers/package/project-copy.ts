import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** What the build and the package are made of. */
const CONTENTS = [
  "src",
  "launchd",
  "systemd",
  "package.json",
  "tsconfig.json",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
];

/** Copies the project into a new directory as a clone has it, without `dist`, and links the installed dependencies. */
export function copyProject(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const name of CONTENTS) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
}

/** A file of a package, below its root. */
export interface PackedFile {
  path: string;
  size: number;
}

/** A package as npm would publish it. */
export interface PackedProject {
  /** Its path. */
  tarball: string;
  files: PackedFile[];
}

/** Builds and packs a project as for publishing. */
export function packProject(project: string, destination: string): PackedProject {
  return pack(project, destination);
}

/** Packs a project after a build without the check of its types, in half the time. */
export function packUnchecked(project: string, destination: string): PackedProject {
  execFileSync("npm", ["run", "-s", "bundle"], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  return pack(project, destination, "--ignore-scripts");
}

function pack(project: string, destination: string, ...flags: string[]): PackedProject {
  const args = ["pack", "--json", "--pack-destination", destination, ...flags];
  const output = execFileSync("npm", args, {
    cwd: project,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [{ filename, files }] = JSON.parse(output) as [{ filename: string; files: PackedFile[] }];
  return { tarball: join(destination, filename), files };
}
