import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ALLOWED_LICENCES, listRuntimePackages } from "./runtime-packages.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const packages = listRuntimePackages(read("package-lock.json"));
const page = read("docs/dependencies.md");

/** The names in the first column of the tables. */
const named = [...page.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
);

test("docs/dependencies.md names every package that users install or that is bundled, and no other", () => {
  assert.ok(packages.length > 40);
  const installed = new Set(packages.map(({ name }) => name));
  assert.deepEqual([...new Set(named)].toSorted(), [...installed].toSorted());
});

test("docs/dependencies.md gives the licence of each, and all of them allow distribution", () => {
  for (const { name, licence } of packages) {
    const row = page.split("\n").find((line) => line.split("|", 2)[1]?.includes(`\`${name}\``));
    assert.match(row ?? "", new RegExp(`\\| ${licence} +\\|`), name);
    assert.ok(ALLOWED_LICENCES.includes(licence), `${name}: ${licence}`);
  }
});

test("the one install script is keytar's, and the package has none", () => {
  const scripts = packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
  assert.deepEqual(scripts, ["@github/keytar"]);
  const { scripts: own } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  for (const name of ["preinstall", "install", "postinstall"]) assert.equal(own[name], undefined);
});
