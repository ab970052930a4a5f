// Real tools start the MCP server that `connect --mcp` writes for them, and `disconnect` takes it off without a trace.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { installTool, type RealTool } from "../helpers/tools/real-tool.ts";
import { expectSuccess, runTollkeeper } from "./connect-tool.ts";
import { snapshot, writeSeeds } from "./home-files.ts";
import type { Seeds } from "./seeds.ts";
import { CONNECTED_TOOLS, GEMINI_CLI } from "./tools.ts";

/** A tool that takes MCP servers. */
interface McpTool {
  name: string;
  tool: RealTool | undefined;
  /** Its settings as it leaves them itself: some tools add to them whenever they start. */
  seeds: Seeds | undefined;
  /** More arguments of `connect`. */
  options?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

const find = (name: string) => CONNECTED_TOOLS.find(({ tool }) => tool === name);
const [kilo, qwenCode] = [find("kilo"), find("qwen-code")];

const TOOLS: readonly McpTool[] = [
  { name: "kilo", tool: kilo, seeds: kilo?.seeds },
  {
    name: "qwen-code",
    tool: qwenCode,
    seeds: qwenCode?.seeds,
    options: ["--model", "claude-sonnet-5"],
  },
  {
    name: "gemini-cli",
    tool: GEMINI_CLI,
    seeds: { ".gemini/settings.json": '{\n  // mine\n  "ui": { "hideTips": true }\n}\n' },
    // It starts servers only in folders that a person trusts.
    env: { GEMINI_CLI_TRUST_WORKSPACE: "true" },
  },
];

for (const { name, tool, seeds = {}, options = [], env = {} } of TOOLS)
  test(`${name} starts the MCP server that connect writes, and disconnect restores its settings`, async (t) => {
    assert.ok(tool);
    const installed = await installTool(t, tool);
    if (installed === null) return;
    Object.assign(installed.env, env);
    writeSeeds(installed.home, seeds);
    const paths = Object.keys(seeds).map((path) => join(installed.home, path));
    const seeded = snapshot(paths);
    const { daemon } = await startDaemonWithSandbox(t);
    const command = (...args: string[]) => expectSuccess(runTollkeeper(t, daemon, installed, ...args));
    await command("connect", name, "--mcp", "--yes", ...options);
    assert.notDeepEqual(snapshot(paths), seeded);
    const { stdout, stderr } = await installed.run("mcp", "list");
    assert.match(stdout + stderr, /tollkeeper[^\n]*connected/i);
    await command("disconnect", name, "--yes");
    assert.deepEqual(snapshot(paths), seeded);
  });
