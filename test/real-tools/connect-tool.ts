import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startDaemonWithSandbox } from "../helpers/ledger/sandbox-billing.ts";
import { runBounded, type ToolHome } from "../helpers/process/run-bounded.ts";
import type { CommandResult, Daemon } from "../helpers/daemon/daemon.ts";
import { PROGRAM } from "../helpers/daemon/program.ts";
import { installTool, type InstalledTool } from "../helpers/tools/real-tool.ts";
import { writeSeeds } from "./home-files.ts";
import type { ConnectedTool } from "./tools.ts";

/** An installed tool, in a home where it has been used before, and a daemon. */
export interface InstalledSetup {
  t: TestContext;
  tool: ConnectedTool;
  installed: InstalledTool;
  daemon: Daemon;
}

/** Installs a tool and starts a daemon. Returns null, with the test skipped, where the tool cannot be installed. */
export async function openSetup(
  t: TestContext,
  tool: ConnectedTool,
  config: object = {},
): Promise<InstalledSetup | null> {
  const installed = await installTool(t, tool);
  if (installed === null) return null;
  writeSeeds(installed.home, tool.seeds);
  const { daemon } = await startDaemonWithSandbox(t, { config });
  return { t, tool, installed, daemon };
}

/** Runs a command of tollkeeper in a tool's home, beside a running daemon. */
export function runTollkeeper(
  t: TestContext,
  daemon: Daemon,
  toolHome: ToolHome,
  ...args: string[]
): Promise<CommandResult> {
  const env = {
    XDG_STATE_HOME: join(daemon.home, "state"),
    ...toolHome.env,
    XDG_RUNTIME_DIR: join(daemon.home, "run"),
  };
  return runBounded(t, [process.execPath, PROGRAM, ...args], { ...toolHome, env });
}

/** Connects the tool. `model` is by default the tool's own choice or, if it needs one, the first that fits. */
export async function connect(
  { t, daemon, installed, tool }: InstalledSetup,
  model?: string,
  options: readonly string[] = [],
): Promise<void> {
  const own = tool.needsModel === true ? tool.models[0]?.model : undefined;
  const choice = [model ?? own].flatMap((name) => (name === undefined ? [] : ["--model", name]));
  await expectSuccess(
    runTollkeeper(t, daemon, installed, "connect", tool.tool, "--yes", ...choice, ...options),
  );
}

export async function disconnect({ t, daemon, installed, tool }: InstalledSetup): Promise<void> {
  await expectSuccess(runTollkeeper(t, daemon, installed, "disconnect", tool.tool, "--yes"));
}

/** Returns the standard output. Fails unless the command exits with 0. */
export async function expectSuccess(running: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Runs the tool, which finds its settings by itself, with a prompt. */
export function runConnected({ t, installed, tool }: InstalledSetup): Promise<CommandResult> {
  if (tool.readsShell !== true) return installed.run(...tool.prompt);
  const inShell = ["bash", "-c", '. ~/.bashrc && exec "$@"', "bash"];
  return runBounded(t, [...inShell, tool.program, ...tool.prompt], installed);
}

/** Runs the tool, which finds its settings by itself, with a prompt. Returns the records. */
export function promptConnected(setup: InstalledSetup): Promise<UsageRecord[]> {
  return prompt(setup, () => runConnected(setup));
}

/** Runs the tool with `tollkeeper run`. Returns the records. */
export function promptOnce(setup: InstalledSetup): Promise<UsageRecord[]> {
  const { t, daemon, installed, tool } = setup;
  const choice = tool.models.slice(0, 1).flatMap(({ model }) => ["--model", model]);
  const line = ["run", ...choice, "--", tool.program, ...tool.prompt];
  return prompt(setup, () => runTollkeeper(t, daemon, installed, ...line));
}

/** `tollkeeper run` itself asks for the list of models. */
function isOwn({ tool, route }: UsageRecord): boolean {
  return tool === "tollkeeper" && route === "/models";
}

async function prompt({ daemon }: InstalledSetup, run: () => Promise<CommandResult>): Promise<UsageRecord[]> {
  const before = (await daemon.ledger()).length;
  const { code, stdout, stderr } = await run();
  assert.match(stdout, /\[sandbox\] You said: [^]*hello/, stderr);
  assert.equal(code, 0, stderr);
  const records = (await daemon.ledger()).slice(before).filter((record) => !isOwn(record));
  assert.ok(records.some(({ outcome }) => outcome === "completed"));
  return records;
}

/** Fails unless all records name the tool by this kind of evidence. Returns both as a text. */
export function assertIdentified(
  { tool }: InstalledSetup,
  records: readonly UsageRecord[],
  by: string,
): string {
  const identities = [...new Set(records.map((record) => `${record.tool} by ${record.tool_by}`))].join(", ");
  assert.equal(identities, `${tool.tool} by ${by}`);
  return identities;
}
