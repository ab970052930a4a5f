// `npm run release:dry-run [-- --out DIR] [--tag vX.Y.Z]`: everything that the release workflow does short of publishing, and what that
// workflow calls. Leaves the package, its components, checksums, licences and notes in DIR.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildPackage, compareContents, run, sha256Of } from "./build-package.ts";
import { findSection } from "./changelog.ts";
import { ALLOWED_LICENCES, listRuntimePackages } from "./runtime-packages.ts";
import { describeComponents } from "./sbom.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(ROOT, "node_modules/.cache/release") },
    tag: { type: "string" },
  },
});
const out = resolve(values.out);
const scratch = mkdtempSync(join(tmpdir(), "tollkeeper-release-"));

try {
  release();
} catch (error) {
  process.exitCode = 1;
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function release(): void {
  const commit = run(ROOT, "git", "rev-parse", "HEAD").trim();
  const date = new Date(run(ROOT, "git", "show", "-s", "--format=%cI", commit).trim()).toISOString();
  const changes = run(ROOT, "git", "status", "--porcelain").trim();
  if (changes !== "") say("uncommitted changes are not part of it");
  const notes = readNotes();
  auditDependencies();

  say(`building ${commit} twice`);
  const project = join(scratch, "one", "tollkeeper");
  const tarball = buildPackage(ROOT, commit, project);
  // Another path, and of another length, because both must not matter. npm names the components after the folder.
  refuseDifference(tarball, buildPackage(ROOT, commit, join(scratch, "the-second-build", "tollkeeper")));

  mkdirSync(out, { recursive: true });
  copyFileSync(tarball, join(out, basename(tarball)));
  const files = {
    [`${basename(tarball, ".tgz")}.cdx.json`]: describeComponents(project, commit, date),
    "licences.txt": describeLicences(readFileSync(join(project, "package-lock.json"), "utf8")),
    "notes.md": notes,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(out, name), text);
  const names = [basename(tarball), ...Object.keys(files)];
  const sums = names.map((name) => `${sha256Of(join(out, name))}  ${name}\n`).join("");
  writeFileSync(join(out, "SHA256SUMS"), sums);
  say(`written to ${out}:\n${sums}`);
}

/** Returns the changelog's section of this version. For a tag, both must name the same version, and the section a day. */
function readNotes(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const section = findSection(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), version);
  if (section === null) throw new Error(`CHANGELOG.md has no section of ${version}`);
  if (values.tag === undefined) return section.text;
  if (values.tag !== `v${version}`)
    throw new Error(`the tag is ${values.tag}, but package.json says ${version}`);
  if (section.date === null) throw new Error(`CHANGELOG.md says that ${version} is unreleased`);
  return section.text;
}

/** Asks npm for known vulnerabilities. Where it cannot be asked, only a release fails. */
function auditDependencies(): void {
  try {
    run(ROOT, "npm", "audit", "--omit", "dev");
  } catch (error) {
    const output = String((error as { stdout?: unknown }).stdout);
    if (values.tag !== undefined || /severity/.test(output))
      throw new Error(`npm audit failed:\n${output}`, { cause: error });
    say("npm audit could not be asked");
  }
}

function refuseDifference(one: string, other: string): void {
  if (sha256Of(one) === sha256Of(other)) return say("both builds have the same bytes");
  const files = compareContents(one, other);
  const what = files.length > 0 ? files.join(", ") : "only the archives themselves";
  throw new Error(`two builds of one commit differ in: ${what}`);
}

function describeLicences(lockFile: string): string {
  const packages = listRuntimePackages(lockFile);
  const refused = packages.filter(({ licence }) => !ALLOWED_LICENCES.includes(licence));
  if (refused.length > 0)
    throw new Error(
      `licences to look at: ${refused.map(({ name, licence }) => `${name} (${licence})`).join(", ")}`,
    );
  return packages.map(({ name, version, licence }) => `${name} ${version}: ${licence}\n`).join("");
}

function say(text: string): void {
  console.log(`release: ${text}`);
}
