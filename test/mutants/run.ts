// `npm run mutants [ROW...]`: removes the rules of the threat table, one at a time in a copy of the project. Each time the
// row's test must fail.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { testEnvironment } from "../run/environment.ts";
import { MUTANTS } from "./all.ts";
import { locateMutant } from "./locate-mutant.ts";
import type { Mutant } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const TSC = join(ROOT, "node_modules/.bin/tsc");

/** Removing a rule may leave a name unused. Any other compiler error is a mistake in the mutant. */
const CHECK = ["-p", "tsconfig.json", "--noUnusedLocals", "false", "--noUnusedParameters", "false"];

/** A test that hangs without the rule counts as failed. */
const LIMIT_MS = 60_000;

const COPIED = [
  "src",
  "test",
  "docs",
  "package.json",
  "tsconfig.json",
  ".github",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "systemd",
  "launchd",
];

/** Copies the project, with links to its dependencies and to the shared files beside it, which some tests read. */
function copyProject(parent: string): string {
  const copy = join(parent, "project");
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  symlinkSync(join(ROOT, "../shared"), join(parent, "shared"));
  return copy;
}

/** Applies a mutant to its source file; returns the original text. */
function apply(mutant: Mutant, root: string): string {
  const { source, start, end, replacement } = locateMutant(mutant, root);
  writeFileSync(join(root, mutant.file), source.slice(0, start) + replacement + source.slice(end));
  return source;
}

/** Builds the program that the tests run; returns the compiler's errors. */
function build(root: string): string {
  const errors = spawnSync(TSC, CHECK, { cwd: root, encoding: "utf8" }).stdout;
  if (errors !== "") return errors;
  const { status, stderr } = spawnSync("npm", ["run", "-s", "bundle"], { cwd: root, encoding: "utf8" });
  return status === 0 ? "" : stderr;
}

/** Runs a test file; returns the names of the tests that fail, and `hung` when it does not end in time. */
async function failuresOf(test: string, root: string): Promise<string[]> {
  const args = ["--import", "tsx", "--test", "--test-reporter=tap", test];
  // In a new process group, which can be killed as a whole when the test hangs.
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: testEnvironment(dirname(root)),
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    process.kill(-Number(child.pid), "SIGKILL");
  }, LIMIT_MS);
  const tap = await text(child.stdout);
  clearTimeout(timer);
  const failed = [...tap.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name = ""]) => name);
  return hung ? [...failed, "hung"] : failed;
}

/** Throws when a test fails with every rule in place: its failures would prove nothing. */
async function assertGreen(tests: Set<string>, root: string): Promise<void> {
  const errors = build(root);
  if (errors !== "") throw new Error(errors);
  for (const test of tests) {
    const failures = await failuresOf(test, root);
    if (failures.length > 0)
      throw new Error(`${test} fails with every rule in place: ${failures.join("; ")}`);
  }
}

/** Removes one rule, runs its test and restores the rule; true when the test has failed. */
async function isNoticed(mutant: Mutant, root: string): Promise<boolean> {
  const source = apply(mutant, root);
  const errors = build(root);
  const failures = errors === "" ? await failuresOf(mutant.test, root) : [];
  writeFileSync(join(root, mutant.file), source);
  const verdict = errors === "" ? (failures.length > 0 ? "red  " : "GREEN") : "ERROR";
  console.log(`${verdict} ${mutant.row}  without ${mutant.without}  (${mutant.test})`);
  for (const line of [...failures, ...errors.split("\n").filter(Boolean)]) console.log(`         ${line}`);
  return failures.length > 0;
}

async function run(mutants: Mutant[]): Promise<number> {
  const parent = mkdtempSync(join(tmpdir(), "tollkeeper-mutants-"));
  // Some tests run the daemon as another user, and skip where that user cannot read the program.
  chmodSync(parent, 0o755);
  let survivors = 0;
  try {
    const copy = copyProject(parent);
    await assertGreen(new Set(mutants.map(({ test }) => test)), copy);
    for (const mutant of mutants) if (!(await isNoticed(mutant, copy))) survivors += 1;
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
  return survivors;
}

const rows = process.argv.slice(2);
const chosen = MUTANTS.filter(({ row }) => rows.length === 0 || rows.includes(row));
const survivors = await run(chosen);
console.log(`${chosen.length} rules removed, ${survivors} of them unnoticed`);
process.exitCode = survivors === 0 && chosen.length > 0 ? 0 : 1;
