// The logs that Claude Code and Codex keep themselves, as `ledger import` reads them: beside what tollkeeper recorded of the same requests.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { runProgram } from "../helpers/daemon/run-program.ts";
import type { Daemon } from "../helpers/daemon/daemon.ts";
import { startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { CLAUDE_CODE, CODEX, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";

/** Runs `ledger import --json` with the tool's home, on the daemon's ledger or with `variables` on another. */
async function importLogs(
  tool: InstalledTool,
  daemon: Daemon,
  name: string,
  variables: Record<string, string> = {},
) {
  const env = { ...daemon.env, HOME: tool.home, ...variables };
  const { stdout, stderr } = await runProgram(["ledger", "import", name, "--json"], { env });
  assert.equal(stderr, "");
  const { sources } = JSON.parse(stdout) as { sources: Record<string, unknown>[] };
  return sources[0];
}

/** Fails unless the log has exactly the responses of these records, with their tokens. */
async function assertSameAsLog(
  tool: InstalledTool,
  daemon: Daemon,
  name: string,
  records: readonly UsageRecord[],
) {
  assert.ok(records.length > 0);
  const beside = await importLogs(tool, daemon, name);
  assert.equal(beside?.["responses"], records.length);
  assert.equal(beside["recorded"], records.length, "all of them are known by their ids");
  assert.equal(beside["imported"], 0);
  const elsewhere = await importLogs(tool, daemon, name, { XDG_STATE_HOME: join(tool.home, "empty") });
  const sum = (count: (tokens: NonNullable<UsageRecord["tokens"]>) => number) =>
    records.reduce((all, { tokens }) => all + (tokens === null ? 0 : count(tokens)), 0);
  assert.deepEqual(elsewhere?.["tokens"], {
    input_uncached: sum((tokens) => tokens.input_uncached),
    cache_read: sum((tokens) => tokens.cache_read),
    cache_write: sum((tokens) => tokens.cache_write),
    output: sum((tokens) => tokens.output),
  });
  assert.deepEqual([elsewhere["imported"], elsewhere["partial"]], [records.length, 0]);
}

async function start(t: TestContext) {
  const { daemon } = await startDaemonWithSandbox(t);
  return daemon;
}

test("claude's own log of a tool call has the responses and the tokens of the ledger", async (t) => {
  const claude = await installTool(t, CLAUDE_CODE);
  if (claude === null) return;
  const daemon = await start(t);
  const env = { ANTHROPIC_BASE_URL: daemon.url, ANTHROPIC_AUTH_TOKEN: "placeholder" };
  claude.configure(".claude/settings.json", JSON.stringify({ env }));
  const { code, stderr } = await claude.run("-p", "use the tool Bash", "--allowedTools", "Bash");
  assert.equal(code, 0, stderr);
  assert.equal((await claude.run("-c", "-p", "hello again")).code, 0);
  await assertSameAsLog(claude, daemon, "claude-code", await daemon.ledger());
});

test("codex's own log of a tool call has the responses and the tokens of the ledger", async (t) => {
  const codex = await installTool(t, CODEX);
  if (codex === null) return;
  const daemon = await start(t);
  const provider = ['name = "tollkeeper"', `base_url = "${daemon.url}/v1"`, 'wire_api = "responses"'];
  const lines = [
    'model = "gpt-5.5"',
    'model_provider = "tollkeeper"',
    "[model_providers.tollkeeper]",
    ...provider,
  ];
  codex.configure(".codex/config.toml", lines.join("\n"));
  const { code, stderr } = await codex.run("exec", "--skip-git-repo-check", "use the tool exec_command");
  assert.equal(code, 0, stderr);
  await assertSameAsLog(codex, daemon, "codex", await daemon.ledger());
});
