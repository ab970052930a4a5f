// `npm test`: installs the programs the tests need, lists those it could not install, and runs every test file (or those
// given).
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installMissing, isInstalled, type NeededProgram } from "./debian-packages.ts";
import { listSkipped } from "./skipped.ts";

interface Need extends NeededProgram {
  /** What is not tested without it. */
  for: string;
}

const NEEDS: Need[] = [
  { program: "dbus-run-session", debianPackage: "dbus-daemon", for: "keychain tests" },
  { program: "gnome-keyring-daemon", debianPackage: "gnome-keyring", for: "keychain tests" },
  { program: "secret-tool", debianPackage: "libsecret-tools", for: "keychain tests" },
  { program: "busctl", debianPackage: "systemd", for: "keychain tests: locked told apart from missing" },
  { program: "dbus-daemon", debianPackage: "dbus-daemon", for: "keychain tests" },
  {
    program: "openssl",
    debianPackage: "openssl",
    for: "key test against an upstream with a wrong certificate",
  },
  { program: "script", debianPackage: "bsdutils", for: "the hidden prompt on a pseudo-terminal" },
  { program: "curl", debianPackage: "curl", for: "README tests, and clients of other users" },
  { program: "plistutil", debianPackage: "libplist-utils", for: "a second reader of launchd's definitions" },
  { program: "chromium", debianPackage: "chromium", for: "what pages in a real browser can do" },
];

const testRoot = fileURLToPath(new URL(".", import.meta.url));

function reportMissing(): void {
  for (const { program, debianPackage, for: purpose } of NEEDS) {
    if (isInstalled(program)) continue;
    console.log(`MISSING: ${program} (Debian: ${debianPackage}); SKIPPED without it: ${purpose}`);
  }
  if (!existsSync(new URL("../../shared/corpus/index.json", import.meta.url))) {
    console.log("MISSING: ../shared/corpus; SKIPPED without it: the recorded responses");
  }
}

function testFiles(): string[] {
  const named = process.argv.slice(2);
  if (named.length > 0) return named;
  return readdirSync(testRoot, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => testRoot + file)
    .sort();
}

/** Builds dist, which most tests of commands and daemons run. */
function build(): void {
  const { status } = spawnSync("npm", ["run", "-s", "build"], { cwd: `${testRoot}..`, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

build();
installMissing(NEEDS);
reportMissing();
const scratch = mkdtempSync(join(tmpdir(), "tollkeeper-tests-"));
const tapFile = join(scratch, "tap");
const reporter = process.env["TEST_REPORTER"] ?? (process.stdout.isTTY ? "spec" : "tap");
// Most test files wait for processes and sockets rather than compute.
const concurrency = 2 * availableParallelism();
const run = spawnSync(
  process.execPath,
  [
    "--import",
    "tsx",
    "--test",
    `--test-concurrency=${concurrency}`,
    `--test-reporter=${reporter}`,
    "--test-reporter-destination=stdout",
    "--test-reporter=tap",
    `--test-reporter-destination=${tapFile}`,
    ...testFiles(),
  ],
  { stdio: "inherit" },
);
// Skipped tests are listed again at the end, where somebody will see them.
for (const line of listSkipped(readFileSync(tapFile, "utf8"))) console.log(line);
rmSync(scratch, { recursive: true });
reportMissing();
process.exitCode = run.status ?? 1;
