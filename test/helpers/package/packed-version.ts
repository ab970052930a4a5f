import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { copyProject, packUnchecked } from "./project-copy.ts";

/** A version of the program that was built and packed as for publishing. */
export interface PackedVersion {
  version: string;
  /** What its daemon says of a path that it does not know, by which running code is told apart. */
  says: string;
  tarball: string;
}

/**
 * Builds and packs this tree in `directory`, which it creates, with changed code and this version number, with which the
 * comments of the service manager's files change.
 */
export function packVersion(
  directory: string,
  { version, says }: Omit<PackedVersion, "tarball">,
): PackedVersion {
  copyProject(directory);
  const manifest = join(directory, "package.json");
  writeFileSync(
    manifest,
    JSON.stringify({ ...(JSON.parse(readFileSync(manifest, "utf8")) as object), version }),
  );
  edit(join(directory, "src/core/refusals/routes.ts"), /there is no route/g, says);
  const templates = join(directory, "systemd");
  for (const name of readdirSync(templates)) edit(join(templates, name), /^/, `# Of version ${version}.\n`);
  return { version, says, tarball: packUnchecked(directory, directory).tarball };
}

function edit(file: string, what: RegExp, by: string): void {
  const text = readFileSync(file, "utf8");
  const edited = text.replace(what, by);
  assert.notEqual(edited, text, `${file} has no ${what.source}`);
  writeFileSync(file, edited);
}

/**
 * Unpacks a package in place of what is in `directory`, as npm does it: the new one is complete before the old one is moved
 * away. Its dependencies are those of `project`.
 */
export function unpackPackage(tarball: string, directory: string, project: string): void {
  const [fresh, retired] = [`${directory}.new`, `${directory}.old`];
  mkdirSync(fresh, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", fresh, "--strip-components=1"]);
  symlinkSync(join(project, "node_modules"), join(fresh, "node_modules"));
  mkdirSync(directory, { recursive: true });
  renameSync(directory, retired);
  renameSync(fresh, directory);
  rmSync(retired, { recursive: true });
}
