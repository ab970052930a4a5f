import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { dayOf } from "../../../../src/core/ledger/day.ts";
import type { UsageRecord } from "../../../../src/core/ledger/record.ts";
import { runProgram } from "../../../helpers/daemon/run-program.ts";
import { ledgerScratchDirectory } from "../../../helpers/ledger/ledger.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const noon = Date.parse(`${dayOf(new Date(Date.now() - 3 * DAY_MS).toISOString())}T12:00:00Z`);

/** The time so many hours after noon, three days ago. */
const hour = (hours: number) => new Date(noon + hours * 3_600_000).toISOString();

/** A repository, and a ledger beside it. */
interface Scene {
  root: string;
  git(...args: string[]): void;
  /** Commits at a time; `committedAt` is the date of the commit, as after a rebase. */
  commit(subject: string, authoredAt: string, committedAt?: string): void;
  /** Gives the last commit a signature, which is not valid. */
  sign(): void;
  usage(records: readonly Partial<UsageRecord>[], ...args: string[]): ReturnType<typeof runProgram>;
}

/** Returns null, and says so, where there is no git. */
function createScene(t: TestContext, options: { project?: boolean } = {}): Scene | null {
  if (spawnSync("git", ["--version"]).status !== 0) {
    t.diagnostic("SKIPPED: git is not installed");
    t.skip("needs git");
    return null;
  }
  const home = realpathSync(ledgerScratchDirectory(t));
  const [root, ledger, config] = [join(home, "repo"), join(home, "ledger"), join(home, "config.jsonc")];
  for (const directory of [root, ledger]) mkdirSync(directory);
  writeFileSync(config, JSON.stringify({ ledger: { directory: ledger, project: options.project ?? true } }));
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TZ: "UTC", XDG_RUNTIME_DIR: home };
  const run = (args: readonly string[], more: object = {}) =>
    execFileSync("git", args, { cwd: root, env: { ...env, ...more }, stdio: ["ignore", "ignore", "pipe"] });
  const read = (args: readonly string[], input = "") =>
    execFileSync("git", args, { cwd: root, env, input, encoding: "utf8" });
  const git = (...args: string[]) => void run(args);
  git("init", "--quiet", "--initial-branch", "main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.com");
  return {
    root,
    git,
    commit: (subject, authoredAt, committedAt = authoredAt) =>
      void run(["commit", "--quiet", "--allow-empty", "-m", subject], {
        GIT_AUTHOR_DATE: authoredAt,
        GIT_COMMITTER_DATE: committedAt,
      }),
    sign() {
      const lines = ["gpgsig -----BEGIN PGP SIGNATURE-----", " ", " AAAA", " -----END PGP SIGNATURE-----"];
      const signed = read(["cat-file", "commit", "HEAD"]).replace("\n\n", `\n${lines.join("\n")}\n\n`);
      git("reset", "--soft", read(["hash-object", "-t", "commit", "-w", "--stdin"], signed).trim());
    },
    usage(records, ...args) {
      for (const changes of records) {
        const record = usageRecord({ project: root, branch: "main", ...changes });
        const file = join(ledger, `${dayOf(record.ts)}.ndjson`);
        writeFileSync(file, `${JSON.stringify(record)}\n`, { flag: "a" });
      }
      return runProgram(["usage", "--commits", "--config", config, ...args], { env, cwd: root });
    },
  };
}

/** The rows of a document: what it is, and its requests. */
function rowsOf(json: string): unknown[] {
  const { rows } = JSON.parse(json) as {
    rows: { kind: string; subject: string | null; requests: number }[];
  };
  return rows.map(({ kind, subject, requests }) => [subject ?? kind, requests]);
}

test("usage --commits prints what was spent between the commits of this branch, the newest first", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  scene.commit("Parse the file", hour(1));
  scene.commit("Sort the rows", hour(3));
  scene.commit("Fix a typo by hand", hour(3));
  const records = [
    { ts: hour(0), tokens: tokens({ input_uncached: 1_000_000 }) },
    { ts: hour(2), tokens: tokens({ input_uncached: 2_000_000 }) },
    { ts: hour(4) },
    { ts: hour(4), branch: "feature" },
    { ts: hour(4), outcome: "error", status: 429, usage: "absent", tokens: null, spend: "never" } as const,
    { ts: hour(4), project: "/elsewhere" },
  ];
  const { code, stdout, stderr } = await scene.usage(records);
  assert.equal(code, 0, stderr);
  const [title, , ...lines] = stdout.split("\n");
  assert.match(title ?? "", /^Usage by commit of main in ~\/repo, /);
  const cells = lines.map((line) => line.trim().split(/ {2,}/));
  assert.deepEqual(cells[0]?.slice(0, 4), ["commit", "authored", "subject", "cost"]);
  assert.equal(cells[1]?.[0], "not committed yet");
  assert.deepEqual(cells[2]?.slice(1, 5), [hour(3).slice(0, 10), "Sort the rows", "$2.50", "1"]);
  assert.deepEqual(cells[3]?.slice(1, 5), [hour(1).slice(0, 10), "Parse the file", "$1.25", "1"]);
  assert.equal(cells[4]?.[0], "on other branches");
  assert.equal(cells[5]?.[0], "total");
  assert.match(stdout, /\nOf 5 requests: 1 failed \(20%\), at no cost\.\n/);
  assert.match(stdout, /\nNot shown: 1 commit of the period without recorded usage\.\n/);
});

test("a rebase, which moves the dates of commits, moves no spending", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  scene.commit("one", hour(1), hour(8));
  scene.commit("two", hour(3), hour(8));
  const { stdout } = await scene.usage([{ ts: hour(0) }, { ts: hour(2) }, { ts: hour(4) }], "--json");
  assert.deepEqual(rowsOf(stdout), [
    ["uncommitted", 1],
    ["two", 1],
    ["one", 1],
  ]);
});

test("a merge is one commit, and what its branch spent stays with that branch", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  scene.commit("base", hour(1));
  scene.git("switch", "--quiet", "--create", "feature");
  scene.commit("on the feature", hour(2));
  scene.git("switch", "--quiet", "main");
  scene.git("merge", "--quiet", "--no-ff", "--no-commit", "feature");
  scene.commit("merge", hour(3));
  const { stdout } = await scene.usage([{ ts: hour(1.5), branch: "feature" }, { ts: hour(2.5) }], "--json");
  assert.deepEqual(rowsOf(stdout), [
    ["uncommitted", 0],
    ["merge", 1],
    ["base", 0],
    ["other_branches", 1],
  ]);
});

test("other worktrees and directories of the repository count; a repository inside of it does not", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  scene.commit("base", hour(1));
  const tree = join(scene.root, "..", "tree");
  scene.git("worktree", "add", "--quiet", tree, "--detach");
  const inner = join(scene.root, "vendor", "inner");
  mkdirSync(join(scene.root, "packages"), { recursive: true });
  mkdirSync(join(inner, ".git"), { recursive: true });
  const projects = [realpathSync(tree), join(scene.root, "packages"), inner];
  const { stdout } = await scene.usage(
    projects.map((project) => ({ ts: hour(0), project })),
    "--json",
  );
  assert.deepEqual(rowsOf(stdout), [
    ["uncommitted", 0],
    ["base", 2],
  ]);
});

test("a commit after the period has what was spent in the period after its last commit", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  scene.commit("in the period", hour(1));
  scene.commit("a day later", hour(24));
  scene.commit("two days later", hour(48));
  const until = ["--since", hour(0).slice(0, 10), "--until", hour(0).slice(0, 10)];
  const { stdout } = await scene.usage([{ ts: hour(0) }, { ts: hour(2) }], "--json", ...until);
  assert.deepEqual(rowsOf(stdout), [
    ["uncommitted", 0],
    ["a day later", 1],
    ["in the period", 1],
  ]);
});

test("usage --commits --csv has a line per row, and what a subject may do to a spreadsheet is prevented", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  scene.commit("=1+1", hour(1));
  const { stdout } = await scene.usage([{ ts: hour(0) }], "--csv");
  const [head, first, second] = stdout.split("\r\n");
  assert.match(head ?? "", /^kind,commit,authored_at,subject,requests,/);
  assert.match(first ?? "", /^uncommitted,,,,0,/);
  assert.match(second ?? "", /^commit,[0-9a-f]{40},[-\dT:.]+Z,'=1\+1,1,/);
});

test("a program that the repository's configuration names is not run", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  scene.commit("base", hour(1));
  const trap = join(scene.root, "trap.sh");
  const sprung = join(scene.root, "sprung");
  writeFileSync(trap, `#!/bin/sh\ntouch "${sprung}"\n`, { mode: 0o755 });
  scene.git("config", "log.showSignature", "true");
  scene.git("config", "gpg.program", trap);
  scene.sign();
  scene.git("log", "-1");
  assert.ok(existsSync(sprung), "git itself runs it");
  rmSync(sprung);
  const { code, stdout } = await scene.usage([{ ts: hour(0) }], "--json");
  assert.deepEqual([code, rowsOf(stdout)[1]], [0, ["base", 1]]);
  assert.ok(!existsSync(sprung));
});

test("without a commit, a repository or git, it says what is missing and what to type", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  const empty = await scene.usage([]);
  assert.equal(empty.code, 1);
  assert.match(empty.stderr, /error: the repository .* has no commit yet\nhint: commit something/);
  const env = { PATH: process.env["PATH"] ?? "", HOME: scene.root, XDG_RUNTIME_DIR: scene.root };
  const outside = await runProgram(["usage", "--commits"], { env, cwd: "/" });
  assert.match(outside.stderr, /error: \/ is not in the worktree of a git repository\nhint: .*--commits/);
  const withoutGit = await runProgram(["usage", "--commits"], {
    env: { ...env, PATH: scene.root },
    cwd: "/",
  });
  assert.match(withoutGit.stderr, /error: git was not found on PATH\nhint: install git/);
});

test("without records of the repository, it says how projects are recorded", async (t) => {
  const scene = createScene(t, { project: false });
  if (scene === null) return;
  scene.commit("base", hour(1));
  const { code, stdout, stderr } = await scene.usage([{ ts: hour(0), project: null, branch: null }]);
  assert.deepEqual([code, stdout], [0, ""]);
  assert.match(
    stderr,
    /^No usage of .*\/repo is recorded .*\n.*type:\n {2}tollkeeper --config \S+ config set ledger\.project true/,
  );
});

test("--commits and --by are not used together", async (t) => {
  const scene = createScene(t);
  if (scene === null) return;
  for (const by of ["day", "tool"]) {
    const { code, stderr } = await scene.usage([], "--by", by);
    assert.equal(code, 2);
    assert.match(stderr, /--commits and --by cannot be used together/);
  }
});
