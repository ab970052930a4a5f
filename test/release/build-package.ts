import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Runs a program in a directory and returns what it prints. Its standard error is ours. @throws Error when it fails */
export function run(directory: string, program: string, ...args: readonly string[]): string {
  const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
  return execFileSync(program, args, {
    cwd: directory,
    encoding: "utf8",
    stdio,
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** Clones a commit of the repository, installs, builds and packs there. Returns the path of the package. */
export function buildPackage(repository: string, commit: string, directory: string): string {
  run(repository, "git", "clone", "--quiet", "--no-local", repository, directory);
  run(directory, "git", "checkout", "--quiet", commit);
  // Without the install scripts of others. Ours, `prepare`, is the build.
  run(directory, "npm", "ci", "--ignore-scripts");
  run(directory, "npm", "run", "build");
  const [packed] = JSON.parse(run(directory, "npm", "pack", "--json", "--ignore-scripts")) as [
    { filename: string },
  ];
  return join(directory, packed.filename);
}

/** Returns the SHA-256 of a file in hexadecimal. */
export function sha256Of(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Names the files that two packages do not have in common, or not with the same bytes. */
export function compareContents(one: string, other: string): string[] {
  const [a, b] = [hashContents(one), hashContents(other)];
  const paths = new Set([...a.keys(), ...b.keys()]);
  return [...paths].filter((path) => a.get(path) !== b.get(path)).toSorted();
}

function hashContents(tarball: string): Map<string, string> {
  const paths = run(".", "tar", "-tzf", tarball).trim().split("\n");
  return new Map(
    paths.map((path) => {
      const hash = createHash("sha256").update(run(".", "tar", "-xzOf", tarball, path));
      return [path, hash.digest("hex")];
    }),
  );
}
