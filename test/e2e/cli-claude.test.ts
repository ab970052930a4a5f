import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRecordHas, assertLedgerMatchesBilling, startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { CLAUDE_CODE, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";

/** The part of `claude --output-format json` that tells what a run came to. */
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

/** As facts/clients.md section 4 has it; the placeholder is all the credential there is. */
function pointAt(claude: InstalledTool, baseUrl: string): void {
  const env = { ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_AUTH_TOKEN: "placeholder" };
  claude.configure(".claude/settings.json", JSON.stringify({ env }));
}

test("claude answers a prompt without a credential, and is recorded under claude-code", async (t) => {
  const claude = await installTool(t, CLAUDE_CODE);
  if (claude === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  pointAt(claude, daemon.url);
  const answer = await claude.run("-p", "hello");
  assert.deepEqual(answer, { code: 0, stdout: "[sandbox] You said: hello\n", stderr: "" });
  const records = await daemon.ledger();
  const [record] = records;
  const expected = { tool: "claude-code", tool_by: "signature", usage: "final", stream: true } as const;
  assertRecordHas(record, { ...expected, outcome: "completed", stop: "end_turn" }, "hello");
  assert.equal(record?.user_agent, `claude-cli/${CLAUDE_CODE.version} (external, sdk-cli)`);
  assert.equal(records.length, 1);
  assertLedgerMatchesBilling(records, sandbox);
});

test("claude runs a tool over two requests; its own report, the sandbox's books and the ledger agree", async (t) => {
  const claude = await installTool(t, CLAUDE_CODE);
  if (claude === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  pointAt(claude, `${daemon.url}/t/claude-at-work`);
  const answer = await claude.run("-p", "use the tool Read", "--output-format", "json");
  assert.equal(answer.code, 0, answer.stderr);
  const report = JSON.parse(answer.stdout) as Report;
  assert.match(report.result, /^\[sandbox\] The tool answered: File does not exist/);

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
