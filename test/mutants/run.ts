// `npm run mutants [ROW...]`: takes the rules of the threat table away, one at a time in a copy of the project, and
// runs the test of the row, which has to fail.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MUTANTS } from "./all.ts";
import type { Mutant } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const TSC = join(ROOT, "node_modules/.bin/tsc");

/** A test that hangs without its rule has noticed as well. */
const LIMIT_MS = 120_000;

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
  const text = readFileSync(path, "utf8");
  if (text.split(find).length !== 2) throw new Error(`not exactly once in ${file}: ${find}`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  return text;
}

/** Does the row's test fail? Its own process group, so that nothing that hangs is left behind. */
function fails(test: string, root: string): Promise<boolean> {
  // A rule that is gone may leave an import unused: compiled all the same.
  spawnSync(TSC, ["-p", "tsconfig.json"], { cwd: root, stdio: "ignore" });
  const child = spawn(process.execPath, ["--import", "tsx", "--test", test], {
    cwd: root,
    stdio: "ignore",
    detached: true,
  });
  const end = () => process.kill(-Number(child.pid), "SIGKILL");
  const timer = setTimeout(end, LIMIT_MS);
  return new Promise((resolve) => {
    child.on("exit", (code) => {
      clearTimeout(timer);
      resolve(code !== 0);
    });
  });
}

/** A test that fails as it is proves nothing by failing. */
async function assertGreen(tests: Set<string>, root: string): Promise<void> {
  for (const test of tests)
    if (await fails(test, root)) throw new Error(`fails with every rule in place: ${test}`);
}

async function run(mutants: Mutant[]): Promise<number> {
  const parent = mkdtempSync(join(tmpdir(), "tollkeeper-mutants-"));
  let survivors = 0;
  try {
    const copy = copyProject(parent);
    await assertGreen(new Set(mutants.map(({ test }) => test)), copy);
    for (const mutant of mutants) {
      const text = apply(mutant, copy);
      const red = await fails(mutant.test, copy);
      writeFileSync(join(copy, mutant.file), text);
      if (!red) survivors += 1;
      console.log(`${red ? "red  " : "GREEN"} ${mutant.row}  without ${mutant.without}  (${mutant.test})`);
    }
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
