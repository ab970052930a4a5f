import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRecordHas, assertLedgerMatchesBilling, startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { CODEX, installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";

/** Codex's own choice of a model changes from version to version, and the sandbox cannot follow. */
const MODEL = 'model = "gpt-5.5"';

/** As facts/clients.md section 4 has it; there is no credential at all. */
function addProvider(codex: InstalledTool, baseUrl: string): void {
  const provider = ['name = "tollkeeper"', `base_url = "${baseUrl}"`, 'wire_api = "responses"'];
  const lines = [MODEL, 'model_provider = "tollkeeper"', "[model_providers.tollkeeper]", ...provider];
  codex.configure(".codex/config.toml", lines.join("\n"));
}

const ask = (codex: InstalledTool, prompt: string) => codex.run("exec", "--skip-git-repo-check", prompt);

const SIGNED = { tool: "codex", tool_by: "signature", usage: "final", stream: true } as const;

/** What Codex says at the end of a run: input that came from no cache, and output. */
function tokensUsed(stderr: string): number {
  return Number(/tokens used\n([\d,]+)/.exec(stderr)?.[1]?.replaceAll(",", ""));
}

test("codex answers a prompt without a credential, and is recorded under codex", async (t) => {
  const codex = await installTool(t, CODEX);
  if (codex === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  addProvider(codex, `${daemon.url}/v1`);
  const answer = await ask(codex, "hello");
  assert.equal(answer.stdout, "[sandbox] You said: hello\n");
  assert.equal(answer.code, 0, answer.stderr);
  const records = await daemon.ledger();
  const [record] = records;
  assertRecordHas(record, { ...SIGNED, outcome: "completed", model: "gpt-5.5" }, "hello");
  assert.match(record?.user_agent ?? "", new RegExp(`^codex_exec/${CODEX.version} `));
  assert.equal(tokensUsed(answer.stderr), record?.tokens?.total);
  assert.equal(records.length, 1);
  assertLedgerMatchesBilling(records, sandbox);
});

test("codex runs a tool over two requests; its own figure, the sandbox's books and the ledger agree", async (t) => {
  const codex = await installTool(t, CODEX);
  if (codex === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  addProvider(codex, `${daemon.url}/t/codex-at-work/v1`);
  const answer = await ask(codex, "use the tool exec_command");
  assert.match(answer.stdout, /^\[sandbox\] The tool answered: /);
  assert.equal(answer.code, 0, answer.stderr);
  const records = await daemon.ledger();
  assert.deepEqual(
    records.map(({ tool, tool_by }) => `${tool} by ${tool_by}`),
    Array<string>(2).fill("codex-at-work by path"),
  );
  const session = /session id: (\S+)/.exec(answer.stderr)?.[1];
  for (const record of records) assert.equal(record.session, session);
  assertLedgerMatchesBilling(records, sandbox);
  const [count] = sandbox.counts().map((row) => row.count);
  assert.ok((count?.cache_read ?? 0) > 0);
  assert.equal(tokensUsed(answer.stderr), (count?.input_uncached ?? 0) + (count?.output ?? 0));
});

test("codex with its built-in provider tries a websocket once, and then posts", async (t) => {
  const codex = await installTool(t, CODEX);
  if (codex === null) return;
  const { daemon, sandbox } = await startDaemonWithSandbox(t, { args: ["--debug"] });
  codex.configure(".codex/config.toml", `${MODEL}\nopenai_base_url = "${daemon.url}/v1"`);
  const answer = await ask(codex, "hello");
  assert.equal(answer.stdout, "[sandbox] You said: hello\n");
  assert.equal(answer.code, 0, answer.stderr);
  const records = await daemon.ledger();
  assertRecordHas(records[0], { ...SIGNED, method: "POST", outcome: "completed" }, "hello");
  assert.equal(records.length, 1);
  assertLedgerMatchesBilling(records, sandbox);
  const refused = daemon.stderr().match(/"code":"\w+"/g);
  assert.deepEqual(refused, ['"code":"upgrade_not_supported"']);
});
