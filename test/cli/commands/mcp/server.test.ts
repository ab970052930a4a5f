// `tollkeeper mcp` as a process: what it writes where, when it ends, and what it is told by the daemon.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startMcp } from "../../../helpers/client/mcp.ts";
import { prepareHome, startDaemon } from "../../../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../../../helpers/daemon/daemon-with-upstream.ts";
import { PROGRAM, resultOf } from "../../../helpers/daemon/program.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";

test("its tools only read, have a schema each, and together cost a model little", async (t) => {
  const { env, configFile } = prepareHome(t, {});
  const { client } = await startMcp(t, { env, args: ["--config", configFile], cwd: scratchDirectory(t) });
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["session_cost", "last_request", "project_cost", "budgets", "limits", "model_prices"],
  );
  for (const { annotations, inputSchema } of tools) {
    assert.equal(annotations?.readOnlyHint, true);
    assert.equal(inputSchema.type, "object");
    assert.equal(inputSchema["additionalProperties"], false);
  }
  assert.ok(JSON.stringify(tools).length < 4200);
  assert.deepEqual(client.getServerCapabilities(), { tools: { listChanged: false } });
  assert.match(client.getInstructions() ?? "", /≥ means at least/);
});

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};

test("standard output has only the protocol, and it ends when standard input does", async (t) => {
  const { env, configFile } = prepareHome(t, {});
  const args = ["mcp", "--config", configFile];
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, cwd: scratchDirectory(t) });
  const result = resultOf(child, args);
  child.stdin.write('no JSON\n{ "jsonrpc": "1.0" }\n');
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await once(child.stdout, "data");
  child.stdin.end();
  const { code, stdout, stderr } = await result;
  assert.equal(code, 0, stderr);
  const lines = stdout.trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc),
    lines.map(() => "2.0"),
  );
  assert.match(stderr, /^note: what the client sent was not understood: /);
});

test("budgets and limits are those of the commands", async (t) => {
  const config = {
    budgets: [{ usd: 20, per: "month" }],
    tools: { codex: { budgets: [{ tokens: 5000, per: "day" }] } },
  };
  const daemon = await startDaemon(t, { config });
  const body = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
  await (await post(daemon, "/t/codex/v1/messages", body)).text();
  const args = ["--config", daemon.configFile];
  const { ask } = await startMcp(t, { env: daemon.env, args, cwd: scratchDirectory(t) });
  const budgets = await ask("budgets");
  const expected = JSON.parse((await daemon.command("budget", "--json")).stdout) as { budgets: object[] };
  assert.equal(expected.budgets.length, 2);
  const { explained, ...document } = budgets.document;
  assert.deepEqual(document, expected);
  assert.match(JSON.stringify(explained), /\$20\.00 per month/);
  assert.match(budgets.text, /\$20\.00 per month/);
  const limits = await ask("limits");
  const { accounts } = JSON.parse((await daemon.command("limits", "--json")).stdout) as {
    accounts: { account: string; windows: object[] }[];
  };
  assert.equal(accounts.length, 1);
  // Who used a window is not said: that may be another project.
  const windows = accounts[0]?.windows.map((window) => ({ ...window, moved_by: undefined }));
  assert.deepEqual(limits.document["accounts"], JSON.parse(JSON.stringify([{ ...accounts[0], windows }])));
});

test("prices of models are those of `models`, for the tool that asks", async (t) => {
  const { daemon } = await startDaemonWithUpstream(
    t,
    (_, response) => {
      const data = [{ id: "gpt-5" }, { id: "claude-sonnet-5" }, { id: "mystery" }];
      response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
    },
    { config: { groups: { small: { models: ["gpt-*", "mystery"] } }, tools: { codex: { group: "small" } } } },
  );
  const args = ["--config", daemon.configFile];
  const { ask } = await startMcp(t, {
    env: daemon.env,
    args,
    cwd: scratchDirectory(t),
    name: "codex-mcp-client",
  });
  const { text, document } = await ask("model_prices");
  const expected = JSON.parse((await daemon.command("models", "--tool", "codex", "--json")).stdout) as {
    models: { id: string }[];
  };
  assert.deepEqual(
    expected.models.map(({ id }) => id),
    ["gpt-5", "mystery"],
  );
  const { explained, ...listed } = document;
  assert.deepEqual(listed, { ...expected, models_left_out: 0 });
  assert.match(JSON.stringify(explained), /per million tokens[^]*is unpriced/);
  assert.match(text, /gpt-5 +default +[\d,]+ +1\.25 +0\.125 +10 +table\n/);
  assert.match(text, /mystery .*unpriced/);
  const one = await ask("model_prices", { model: "gpt-*" });
  assert.deepEqual(
    (one.document["models"] as { id: string }[]).map(({ id }) => id),
    ["gpt-5"],
  );
});

test("without a daemon, what needs one says so, and costs are answered", async (t) => {
  const { env, configFile } = prepareHome(t, { config: { ledger: { project: true } } });
  const { ask } = await startMcp(t, { env, args: ["--config", configFile], cwd: scratchDirectory(t) });
  for (const tool of ["budgets", "limits", "model_prices"]) {
    const { text, isError } = await ask(tool);
    assert.ok(isError);
    assert.match(text, /^error: tollkeeper is not running\nhint: /, tool);
  }
  assert.equal((await ask("project_cost")).isError, false);
});

test("no other command loads the protocol's library", () => {
  const dist = fileURLToPath(new URL("../../../../dist/", import.meta.url));
  const read = (path: string) => readFileSync(join(dist, path), "utf8");
  const modules = ["main.js", ...readdirSync(join(dist, "chunks")).map((name) => `chunks/${name}`)];
  const withLibrary = modules.filter((path) => read(path).includes('"server/discover"'));
  assert.equal(withLibrary.length, 1);
  const [library = ""] = withLibrary;
  const name = library.replace("chunks/", "");
  const importing = modules.filter((path) => read(path).includes(`${name}"`));
  assert.equal(importing.length, 1, "one module imports it");
  assert.match(read(importing[0] ?? ""), new RegExp(`import\\("[^"]*${name}"\\)`));
  // What checks a person's forms by writing code and running it is left out.
  assert.doesNotMatch(read(library), /new Function\(/);
});
