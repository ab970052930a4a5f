import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { runBounded, type ToolHome } from "../helpers/process/run-bounded.ts";
import type { CommandResult, Daemon } from "../helpers/daemon/daemon.ts";
import { PROGRAM } from "../helpers/daemon/program.ts";
import { installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";
import { seed } from "./home-files.ts";
import type { ConnectedTool } from "./tools.ts";

/** A tool in a home where it has been used before, and a daemon. */
export interface Bench {
  t: TestContext;
  tool: ConnectedTool;
  ready: InstalledTool;
  daemon: Daemon;
}

/** null, with the test skipped, where the tool cannot be had. */
export async function openBench(
  t: TestContext,
  tool: ConnectedTool,
  config: object = {},
): Promise<Bench | null> {
  const ready = await installTool(t, tool);
  if (ready === null) return null;
  seed(ready.home, tool.seeds);
  const { daemon } = await startDaemonWithSandbox(t, { config });
  return { t, tool, ready, daemon };
}

/** Runs a command of tollkeeper's where a tool is at home, beside a running daemon. */
export function tollkeeper(
  t: TestContext,
  daemon: Daemon,
  room: ToolHome,
  ...args: string[]
): Promise<CommandResult> {
  const env = {
    ...room.env,
    XDG_RUNTIME_DIR: join(daemon.home, "run"),
    XDG_STATE_HOME: join(daemon.home, "state"),
  };
  return runBounded(t, [process.execPath, PROGRAM, ...args], { ...room, env });
}

/** @param model which it is told; by default what it takes by itself or, if it must be told one, the first that fits */
export async function connect({ t, daemon, ready, tool }: Bench, model?: string): Promise<void> {
  const own = tool.needsModel === true ? tool.asks[0]?.model : undefined;
  const choice = [model ?? own].flatMap((name) => (name === undefined ? [] : ["--model", name]));
  await succeed(tollkeeper(t, daemon, ready, "connect", tool.tool, "--yes", ...choice));
}

export async function disconnect({ t, daemon, ready, tool }: Bench): Promise<void> {
  await succeed(tollkeeper(t, daemon, ready, "disconnect", tool.tool, "--yes"));
}

/** What it printed. Fails unless it exits with 0. */
export async function succeed(running: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Asks the tool, which finds its settings by itself; resolves to the records of that. */
export function askConnected(bench: Bench): Promise<UsageRecord[]> {
  const { t, ready, tool } = bench;
  return ask(bench, () => {
    if (tool.readsShell !== true) return ready.run(...tool.prompt);
    const inShell = ["bash", "-c", '. ~/.bashrc && exec "$@"', "bash"];
    return runBounded(t, [...inShell, tool.program, ...tool.prompt], ready);
  });
}

/** Asks the tool by `tollkeeper run`. */
export function askOnce(bench: Bench): Promise<UsageRecord[]> {
  const { t, daemon, ready, tool } = bench;
  const choice = tool.asks.slice(0, 1).flatMap(({ model }) => ["--model", model]);
  const line = ["run", ...choice, "--", tool.program, ...tool.prompt];
  return ask(bench, () => tollkeeper(t, daemon, ready, ...line));
}

async function ask({ daemon }: Bench, run: () => Promise<CommandResult>): Promise<UsageRecord[]> {
  const before = (await daemon.ledger()).length;
  const { code, stdout, stderr } = await run();
  assert.match(stdout, /\[sandbox\] You said: [^]*hello/, stderr);
  assert.equal(code, 0, stderr);
  const records = (await daemon.ledger()).slice(before);
  assert.ok(records.some(({ outcome }) => outcome === "completed"));
  return records;
}

/** Fails unless all records are the tool's, by that evidence; in words. */
export function assertTold({ tool }: Bench, records: readonly UsageRecord[], by: string): string {
  const told = [...new Set(records.map((record) => `${record.tool} by ${record.tool_by}`))].join(", ");
  assert.equal(told, `${tool.tool} by ${by}`);
  return told;
}
