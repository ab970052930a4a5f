import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { noDeletion, runInDeleted } from "./run-in-deleted.ts";

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
