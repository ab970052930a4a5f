// `npm test [FILE...]`: runs the tests, or those in the files given, without anything of the caller's environment.
// `npm run test:slow`: runs those that take long instead.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLAUDE_CODE, CODEX } from "./helpers/tools/real-tool.ts";
import { findNode22, installPackages } from "./helpers/tools/tool-packages.ts";
import { build, buildIfOutdated } from "./run/build.ts";
import { testEnvironment } from "./run/environment.ts";
import { preparePrograms, reportMissing } from "./run/programs.ts";

const TEST_ROOT = fileURLToPath(new URL(".", import.meta.url));
const EXECUTE = fileURLToPath(new URL("run/execute.ts", import.meta.url));

/** A quarter of the time of all tests: see docs/testing.md. */
const SLOW = [
  /^(faults|fuzz|chaos)\//,
  /^package\.test/,
  /^run\/environment\.test/,
  /^cli\/commands\/connect-conflicts\.test/,
  /\/prometheus\.test/,
  /^team\/totals\//,
  /\/hanging[\w-]*\.test/,
  /\/systemd-user\.test|^cli\/setup\/systemd\.test/,
];

function findTestFiles({ areSlow }: { areSlow: boolean }): string[] {
  return readdirSync(TEST_ROOT, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts") && SLOW.some((slow) => slow.test(file)) === areSlow)
    .map((file) => TEST_ROOT + file)
    .sort();
}

/** Does ahead what needs the caller's environment. A tool that cannot be installed is skipped by its tests, with the reason. */
async function prepareAll(): Promise<void> {
  build();
  await preparePrograms();
  await Promise.allSettled([installPackages(CLAUDE_CODE), installPackages(CODEX), findNode22()]);
}

function runTests(files: readonly string[]): number {
  const scratch = mkdtempSync(join(tmpdir(), "tollkeeper-tests-"));
  const { status } = spawnSync(process.execPath, ["--import", "tsx", EXECUTE, ...files], {
    stdio: ["ignore", "inherit", "inherit"],
    env: testEnvironment(scratch),
  });
  rmSync(scratch, { recursive: true, force: true });
  return status ?? 1;
}

const areSlow = process.argv[2] === "--slow";
const named = areSlow ? [] : process.argv.slice(2);
if (named.length > 0) {
  buildIfOutdated();
  process.exitCode = runTests(named);
} else {
  await prepareAll();
  process.exitCode = runTests(findTestFiles({ areSlow }));
  reportMissing();
}
