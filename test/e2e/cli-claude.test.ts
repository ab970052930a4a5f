import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  assertRecordHas,
  assertLedgerMatchesBilling,
  startDaemonWithSandbox,
} from "../helpers/ledger/sandbox-billing.ts";
import { noTerminal, runOnTerminal } from "../helpers/process/terminal.ts";
import { CLAUDE_CODE, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";
import { expectSuccess, runTollkeeper } from "../real-tools/connect-tool.ts";

/** The part of the output of `claude --output-format json` that is checked. */
interface Report {
  result: string;
  session_id: string;
  modelUsage: Record<
    string,
    {
      inputTokens: number;
      outputTokens: number;
      cacheReadInputTokens: number;
      cacheCreationInputTokens: number;
    }
  >;
}

/** Configures Claude Code as in docs/wire.md section 3. Its only credential is a placeholder. */
function configureClaude(claude: InstalledTool, baseUrl: string): void {
  const env = { ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_AUTH_TOKEN: "placeholder" };
  claude.configure(".claude/settings.json", JSON.stringify({ env }));
}

test("claude works without a credential and is recorded as claude-code", async (t) => {
  const claude = await installTool(t, CLAUDE_CODE);
  if (claude === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  configureClaude(claude, daemon.url);
  const result = await claude.run("-p", "hello");
  assert.deepEqual(result, { code: 0, stdout: "[sandbox] You said: hello\n", stderr: "" });
  const records = await daemon.ledger();
  const [record] = records;
  const expected = { tool: "claude-code", tool_by: "signature", usage: "final", stream: true } as const;
  assertRecordHas(record, { ...expected, outcome: "completed", stop: "end_turn" }, "hello");
  assert.equal(record?.user_agent, `claude-cli/${CLAUDE_CODE.version} (external, sdk-cli)`);
  assert.equal(records.length, 1);
  assertLedgerMatchesBilling(records, sandbox);
});

test("claude's own report of a tool call, the sandbox's billing and the ledger agree", async (t) => {
  const claude = await installTool(t, CLAUDE_CODE);
  if (claude === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  configureClaude(claude, `${daemon.url}/t/claude-at-work`);
  const result = await claude.run("-p", "use the tool Read", "--output-format", "json");
  assert.equal(result.code, 0, result.stderr);
  const report = JSON.parse(result.stdout) as Report;
  assert.match(report.result, /^\[sandbox\] The tool returned: File does not exist/);

  const records = await daemon.ledger();
  assert.deepEqual(
    records.map(({ tool, tool_by, stop, session }) => ({ tool, tool_by, stop, session })),
    ["tool_use", "end_turn"].map((stop) => {
      return { tool: "claude-at-work", tool_by: "path", stop, session: report.session_id };
    }),
  );
  assertLedgerMatchesBilling(records, sandbox);
  const [count] = sandbox.counts().map((row) => row.count);
  const [model = "", ...others] = Object.keys(report.modelUsage);
  assert.deepEqual(others, []);
  assert.equal(records[1]?.model, model);
  assert.ok((count?.cache_read ?? 0) > 0 && (count?.cache_write ?? 0) > 0);
  assert.deepEqual(
    {
      input_uncached: report.modelUsage[model]?.inputTokens,
      cache_read: report.modelUsage[model]?.cacheReadInputTokens,
      cache_write: report.modelUsage[model]?.cacheCreationInputTokens,
      output: report.modelUsage[model]?.outputTokens,
    },
    {
      input_uncached: count?.input_uncached,
      cache_read: count?.cache_read,
      cache_write: count?.cache_write,
      output: count?.output,
    },
  );
});

/** Claude Code asks nothing at its start then. */
const onboarded = (work: string) => ({
  hasCompletedOnboarding: true,
  theme: "dark",
  projects: { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
});

test(
  "a connected claude gets the title of a session from the first listed Haiku model",
  { skip: noTerminal },
  async (t) => {
    const claude = await installTool(t, CLAUDE_CODE);
    if (claude === null) return;
    const { daemon } = await startDaemonWithSandbox(t);
    await expectSuccess(runTollkeeper(t, daemon, claude, "connect", "claude-code", "--yes"));
    claude.configure(".claude.json", JSON.stringify(onboarded(claude.work)));
    const typing: [prompt: string, typed: string][] = [
      ["shift+tab", "hello there, dear model"],
      ["dear", "\r"],
      ["[sandbox]", "/exit"],
      ["/exit", "\r"],
    ];
    const env = { ...claude.env, TERM: "xterm" };
    const argv = [join(claude.home, "bin", "claude")];
    const screen = await runOnTerminal(argv, { env, cwd: claude.work }, typing);
    assert.equal(screen.code, 0, screen.text);
    const records = (await daemon.ledger()).filter(({ route }) => route === "/messages");
    const models = records.map(({ model }) => model);
    assert.deepEqual(new Set(models), new Set(["claude-haiku-5", "claude-opus-5-5"]));
  },
);
