import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const noDeletion = process.platform === "win32" && "Windows deletes no directory that a process works in";

/** Runs a command in a directory that is deleted before it starts, as agents do with the worktree that a shell of theirs is in. */
function runInDeleted(
  t: TestContext,
  env: NodeJS.ProcessEnv,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  const argv = ["-c", script, "sh", process.execPath, PROGRAM, ...words];
  return new Promise((resolve) => {
    const child = execFile("sh", argv, { env, cwd: scratchDirectory(t) }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end();
  });
}

test(
  "commands that need no working directory work in one that was deleted",
  { skip: noDeletion },
  async (t) => {
    const { env, configFile } = await startDaemon(t, {});
    const config = ["--config", configFile];
    for (const line of [
      "version",
      "--help",
      "completion bash",
      "statusline",
      "status",
      "usage",
      "budget",
      "models",
      "mcp",
      "tail --no-follow",
      "prices gpt-5",
      "env codex",
      "connect --list",
      "connect codex --yes",
      "disconnect codex --yes",
      "config check",
      "config set log.level info",
      "token list",
      "key list",
      "ledger verify",
      "metrics",
    ]) {
      const words = line.split(" ");
      const named = /^(?:version|--help|completion|statusline)/.test(line) ? [] : config;
      const { stdout, stderr } = await runInDeleted(t, env, ...words, ...named);
      assert.doesNotMatch(stdout + stderr, /uv_cwd|working directory|^ +at /m, line);
    }
    const ran = await runInDeleted(
      t,
      env,
      "run",
      "--tool",
      "x",
      ...config,
      "--",
      "sh",
      "-c",
      "echo $OPENAI_BASE_URL",
    );
    assert.match(ran.stdout, /\/t\/x\/v1$/m, ran.stderr);
  },
);

test("commands that need the working directory say that it was deleted", { skip: noDeletion }, async (t) => {
  const env = { PATH: process.env["PATH"] ?? "", HOME: scratchDirectory(t) };
  for (const line of [
    "connect claude-code --scope project --yes",
    "disconnect claude-code --directory .",
    "config check --config ./config.jsonc",
    "usage --commits",
    "serve --log-file log",
  ]) {
    const { code, stderr } = await runInDeleted(t, env, ...line.split(" "));
    assert.equal(code, 1, line);
    assert.equal(
      stderr,
      "error: the working directory does not exist any more\nhint: go to one that exists, and try again: cd\n",
      line,
    );
  }
});

test("the settings of a deleted project are not looked for elsewhere", { skip: noDeletion }, async (t) => {
  const home = scratchDirectory(t);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  const { code } = await runInDeleted(t, env, "connect", "claude-code", "--yes");
  assert.equal(code, 0);
  assert.match(readFileSync(join(home, ".claude/settings.json"), "utf8"), /ANTHROPIC_BASE_URL/);
});
