import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertRecordHas,
  assertLedgerMatchesBilling,
  startDaemonWithSandbox,
} from "../helpers/ledger/sandbox-billing.ts";
import { CODEX, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";

/** Set explicitly, because Codex's default model changes between versions and the sandbox may not have it. */
const MODEL = 'model = "gpt-5.5"';

/** Configures Codex as in docs/wire.md section 3, without any credential. */
function addProvider(codex: InstalledTool, baseUrl: string): void {
  const provider = ['name = "tollkeeper"', `base_url = "${baseUrl}"`, 'wire_api = "responses"'];
  const lines = [MODEL, 'model_provider = "tollkeeper"', "[model_providers.tollkeeper]", ...provider];
  codex.configure(".codex/config.toml", lines.join("\n"));
}

const runCodex = (codex: InstalledTool, prompt: string) => codex.run("exec", "--skip-git-repo-check", prompt);

const SIGNED = { tool: "codex", tool_by: "signature", usage: "final", stream: true } as const;

/** Reads the token count that Codex prints at the end of a run: uncached input and output. */
function readTokensUsed(stderr: string): number {
  return Number(/tokens used\n([\d,]+)/.exec(stderr)?.[1]?.replaceAll(",", ""));
}

test("codex works without a credential and is recorded as codex", async (t) => {
  const codex = await installTool(t, CODEX);
  if (codex === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  addProvider(codex, `${daemon.url}/v1`);
  const result = await runCodex(codex, "hello");
  assert.equal(result.stdout, "[sandbox] You said: hello\n");
  assert.equal(result.code, 0, result.stderr);
  const records = await daemon.ledger();
  const [record] = records;
  assertRecordHas(record, { ...SIGNED, outcome: "completed", model: "gpt-5.5" }, "hello");
  assert.match(record?.user_agent ?? "", new RegExp(`^codex_exec/${CODEX.version} `));
  assert.equal(readTokensUsed(result.stderr), record?.tokens?.total);
  assert.equal(records.length, 1);
  assertLedgerMatchesBilling(records, sandbox);
});

test("codex's own token count of a tool call, the sandbox's billing and the ledger agree", async (t) => {
  const codex = await installTool(t, CODEX);
  if (codex === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  addProvider(codex, `${daemon.url}/t/codex-at-work/v1`);
  const result = await runCodex(codex, "use the tool exec_command");
  assert.match(result.stdout, /^\[sandbox\] The tool returned: /);
  assert.equal(result.code, 0, result.stderr);
  const records = await daemon.ledger();
  assert.deepEqual(
    records.map(({ tool, tool_by }) => `${tool} by ${tool_by}`),
    Array<string>(2).fill("codex-at-work by path"),
  );
  const session = /session id: (\S+)/.exec(result.stderr)?.[1];
  for (const record of records) assert.equal(record.session, session);
  assertLedgerMatchesBilling(records, sandbox);
  const [count] = sandbox.counts().map((row) => row.count);
  assert.ok((count?.cache_read ?? 0) > 0);
  assert.equal(readTokensUsed(result.stderr), (count?.input_uncached ?? 0) + (count?.output ?? 0));
});

test("codex with its built-in provider tries a WebSocket once and then sends a POST", async (t) => {
  const codex = await installTool(t, CODEX);
  if (codex === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t, { args: ["--debug"] });
  codex.configure(".codex/config.toml", `${MODEL}\nopenai_base_url = "${daemon.url}/v1"`);
  const result = await runCodex(codex, "hello");
  assert.equal(result.stdout, "[sandbox] You said: hello\n");
  assert.equal(result.code, 0, result.stderr);
  const records = await daemon.ledger();
  assertRecordHas(records[0], { ...SIGNED, method: "POST", outcome: "completed" }, "hello");
  assert.equal(records.length, 1);
  assertLedgerMatchesBilling(records, sandbox);
  const refused = daemon.stderr().match(/"code":"\w+"/g);
  assert.deepEqual(refused, ['"code":"upgrade_not_supported"']);
});
