// `npm run mutants [ROW...]`: takes the rules of the threat table away, one at a time in a copy of the project, and
// runs the test of the row, which has to fail.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { MUTANTS } from "./all.ts";
import type { Mutant } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const TSC = join(ROOT, "node_modules/.bin/tsc");

/** A rule that is gone may leave a name unused; anything else that does not compile is a fault of the mutant's. */
const COMPILE = ["-p", "tsconfig.json", "--noUnusedLocals", "false", "--noUnusedParameters", "false"];

/** A test that hangs without its rule has noticed as well. */
const LIMIT_MS = 60_000;

const COPIED = ["src", "test", "package.json", "tsconfig.json", ".github", "README.md", "systemd", "launchd"];

/** A copy of the project that shares its dependencies, and has what the tests read beside it. */
function copyProject(parent: string): string {
  const copy = join(parent, "project");
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  symlinkSync(join(ROOT, "../shared"), join(parent, "shared"));
  return copy;
}

/** Applies an edit; returns the text as it was. Throws when the rule is not where the mutant says. */
function apply({ file, find, replace }: Mutant, root: string): string {
  const path = join(root, file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) throw new Error(`not exactly once in ${file}: ${find}`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  return source;
}

/** Compiles what the tests run; returns what the compiler did not like. */
function compile(root: string): string {
  return spawnSync(TSC, COMPILE, { cwd: root, encoding: "utf8" }).stdout;
}

/** Names of the tests in the file that fail; `hung` at the end when it does not come to one. */
async function failuresOf(test: string, root: string): Promise<string[]> {
  const args = ["--import", "tsx", "--test", "--test-reporter=tap", test];
  // In a process group of its own, so that nothing that hangs is left behind.
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    process.kill(-Number(child.pid), "SIGKILL");
  }, LIMIT_MS);
  const said = await text(child.stdout);
  clearTimeout(timer);
  const failed = [...said.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name = ""]) => name);
  return hung ? [...failed, "hung"] : failed;
}

/** A test that fails as it is proves nothing by failing. */
async function assertGreen(tests: Set<string>, root: string): Promise<void> {
  const complaint = compile(root);
  if (complaint !== "") throw new Error(complaint);
  for (const test of tests) {
    const failures = await failuresOf(test, root);
    if (failures.length > 0)
      throw new Error(`${test} fails with every rule in place: ${failures.join("; ")}`);
  }
}

/** Takes one rule away and puts it back; true: its test has failed. */
async function isNoticed(mutant: Mutant, root: string): Promise<boolean> {
  const source = apply(mutant, root);
  const complaint = compile(root);
  const failures = complaint === "" ? await failuresOf(mutant.test, root) : [];
  writeFileSync(join(root, mutant.file), source);
  const verdict = complaint === "" ? (failures.length > 0 ? "red  " : "GREEN") : "ERROR";
  console.log(`${verdict} ${mutant.row}  without ${mutant.without}  (${mutant.test})`);
  for (const line of [...failures, ...complaint.split("\n").filter(Boolean)]) console.log(`         ${line}`);
  return failures.length > 0;
}

async function run(mutants: Mutant[]): Promise<number> {
  const parent = mkdtempSync(join(tmpdir(), "tollkeeper-mutants-"));
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
console.log(`${chosen.length} rules taken away, ${survivors} of them unnoticed`);
process.exitCode = survivors === 0 && chosen.length > 0 ? 0 : 1;
