// `npm test [PATH...]`: runs the tests, or those in the files and directories given, without anything of the caller's environment.
// `npm test -- --changed [REF]`: runs those that can be affected by what has changed since this branch left main, or REF.
// `npm run test:slow`: runs those that take long or need downloads instead; also with `-- --changed [REF]`.
import { mkdtempSync, readdirSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { killLeftovers } from "./helpers/process/run-bounded.ts";
import { CLAUDE_CODE, CODEX } from "./helpers/tools/real-tool.ts";
import { findNode22, installPackages } from "./helpers/tools/tool-packages.ts";
import { findAffected } from "./run/affected.ts";
import { buildIfOutdated } from "./run/build.ts";
import { bundleTests } from "./run/bundle.ts";
import { testEnvironment } from "./run/environment.ts";
import { preparePrograms, reportMissing } from "./run/programs.ts";
import { RunReport } from "./run/reporter.ts";
import { runFile, type RunningFile, type TestProgram } from "./run/run-file.ts";
import { removeDirectory } from "./helpers/process/scratch-directory.ts";

const TEST_ROOT = fileURLToPath(new URL(".", import.meta.url));

/** Install Claude Code, Codex and a Node for them from npm: some 500 MB, once. */
const WITH_REAL_TOOLS = /^e2e\/(cli-claude|cli-codex|own-logs|remote-container)\.test/;

/** More than half of the time of all tests: see docs/testing.md. */
const SLOW = [
  WITH_REAL_TOOLS,
  /^(faults|fuzz|chaos)\//,
  // In a real browser.
  /^local\/dashboard\/page\/(accessibility|at-least|chart-drawing|chart-keys|compare|controls|frame|hairlines|health-phone|live-running|memory|misses|narrowing|notices|one-session|periods|phone|phone-rows|plans|questions|requests|sessions|standing|views)\.test/,
  /^security\/(a16-listed-names|browser|c8-browser-headers|f1-foreign-pages|f2-framing|f3-hostile-texts|f4-session-theft|f9-other-documents)\.test/,
  /^security\/f6-floods-of-questions\.test/,
  // Sums over many random ledgers, every day of made-up ones, and every recorded body cut anywhere, or longer than memory may be.
  /^(cli\/sums\/sum-ledger|core\/digest\/out-of-line-every-day|core\/usage\/(bounded-memory|gemini\/bounded-memory|chat\/cuts)|daemon\/budgets\/counter|proxy\/exchange\/(compressed-gemini|corpus))\.test/,
  /^(package|mutants\/(compile|copy|run))\.test/,
  // Every process of these commands is traced.
  /^release\/no-phoning-home\.test/,
  /^run\/environment\.test/,
  /^cli\/commands\/connect-conflicts\.test/,
  // Every command, or a keychain, an upstream or a daemon for every problem.
  /^cli\/(system-errors\/(deleted-directory-)?every-command|doctor\/problems-of-keys-and-daemons)\.test/,
  /\/prometheus\.test/,
  /^team\/totals\//,
  /\/hanging[\w-]*\.test/,
  /\/systemd-user\.test|^cli\/setup\/systemd\.test/,
];

/** Most test files wait for processes and sockets rather than compute. */
const AT_ONCE = 2 * availableParallelism();

/** Started first, because they take up to a minute, and the run would end with them alone. */
const LONG =
  /^(security\/|(mutants\/compile|cli\/doctor\/problems(-of-keys-and-daemons)?|cli\/setup\/dialogue|connect\/journal\/interrupted|daemon\/budgets|run\/run-file)\.)/;

const PROGRESS_MS = 10_000;

/** A socket's path has 104 bytes on macOS, and the directory for temporary files there takes half of them. */
const TEMPORARY = process.platform === "darwin" ? "/tmp" : tmpdir();

function findTestFiles({ areSlow }: { areSlow: boolean }): string[] {
  return readdirSync(TEST_ROOT, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts") && SLOW.some((slow) => slow.test(file)) === areSlow)
    .sort((a, b) => Number(LONG.test(b)) - Number(LONG.test(a)) || (a < b ? -1 : 1))
    .map((file) => TEST_ROOT + file);
}

/** Returns the test file, or those in the directory. */
function findNamed(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`there is no file or directory ${path}`);
  if (stats.isFile()) return [path];
  const found = readdirSync(path, { recursive: true, encoding: "utf8" });
  return found.filter((file) => file.endsWith(".test.ts")).map((file) => join(path, file));
}

/** Installs what needs the caller's environment. A tool that cannot be installed is skipped by its tests, with the reason. */
async function prepareTools(files: readonly string[]): Promise<void> {
  if (!files.some((file) => WITH_REAL_TOOLS.test(relative(TEST_ROOT, file)))) return;
  await Promise.allSettled([installPackages(CLAUDE_CODE), installPackages(CODEX), findNode22()]);
}

async function runTests(files: readonly string[]): Promise<boolean> {
  const scratch = mkdtempSync(join(TEMPORARY, "tk-"));
  const running = new Set<RunningFile>();
  const { tests, remove } = await bundleTests(files);
  const leaveNothing = () => {
    for (const file of running) file.kill();
    killLeftovers(scratch);
    remove();
    removeDirectory(scratch);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      leaveNothing();
      process.kill(process.pid, signal);
    });
  }
  try {
    return await reportOn(tests, testEnvironment(scratch), running);
  } finally {
    leaveNothing();
  }
}

/** Runs the files, some at once. Returns whether the tests have passed. */
async function reportOn(
  tests: readonly TestProgram[],
  env: Record<string, string>,
  running: Set<RunningFile>,
): Promise<boolean> {
  const report = new RunReport(tests.map(({ name }) => name));
  const progress = setInterval(() => process.stdout.write(report.progress([...running])), PROGRESS_MS);
  const waiting = [...tests];
  const runNext = async (): Promise<void> => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const file = runFile(test, env);
      running.add(file);
      process.stdout.write(report.onEnd(file.name, await file.ended));
      running.delete(file);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runNext));
  clearInterval(progress);
  process.stdout.write(report.end());
  return report.hasPassed();
}

/** Leaves those out that no change since `ref` can affect, and says why the others stay. */
async function chooseChanged(files: readonly string[], ref: string | undefined): Promise<string[]> {
  const root = join(TEST_ROOT, "..");
  const names = files.map((file) => relative(root, file));
  const { tests, why } = await findAffected(names, ref).catch((error: Error) => {
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(1);
  });
  process.stdout.write(why);
  return tests.map((file) => join(root, file));
}

const areSlow = process.argv[2] === "--slow";
const args = process.argv.slice(areSlow ? 3 : 2);
const isForChange = args[0] === "--changed";
const named = areSlow || isForChange ? [] : args.flatMap((path) => findNamed(resolve(path)));
const all = named.length > 0 ? named : findTestFiles({ areSlow });
const files = isForChange ? await chooseChanged(all, args[1]) : all;
const isWhole = named.length === 0 && files.length > 0;
if (files.length > 0) buildIfOutdated();
if (isWhole) await preparePrograms();
await prepareTools(files);
process.exitCode = files.length === 0 || (await runTests(files)) ? 0 : 1;
if (isWhole) reportMissing();
