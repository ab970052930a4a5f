import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { runBounded, type ToolRoom } from "../process/bounded-run.ts";
import type { CommandResult } from "../daemon/daemon.ts";
import { scratchDirectory } from "../keychain/keychain-session.ts";
import { findNode22, installPackages, type ToolPackage } from "./tool-packages.ts";

/** An AI tool as npm has it. */
export interface RealTool extends ToolPackage {
  /** What people type. */
  program: string;
  /** Below node_modules. */
  entry: string;
  /** What runs the entry; `itself`: it is a native program. */
  runner: "node" | "node 22" | "itself";
}

export const CLAUDE_CODE: RealTool = {
  package: "@anthropic-ai/claude-code",
  version: "2.1.329",
  program: "claude",
  // Finds the native program, so that no install script is needed.
  entry: "@anthropic-ai/claude-code/cli-wrapper.cjs",
  runner: "node",
};

export const CODEX: RealTool = {
  package: "@openai/codex",
  version: "0.169.0",
  program: "codex",
  entry: "@openai/codex/bin/codex.js",
  runner: "node",
};

/** One tool, ready to be run, with a home of its own, in which it can be started by its name. */
export interface ReadyTool extends ToolRoom {
  /** Puts a file below its home directory. */
  configure(path: string, content: string): void;
  /** Runs it to its end on empty standard input; two minutes at most. */
  run(...args: string[]): Promise<CommandResult>;
}

/**
 * Installs the tool, once for all test runs, and gives it an empty home and an empty working directory. null, with the
 * test skipped and the reason said, where npm cannot deliver it or this machine cannot run it.
 */
export async function openTool(t: TestContext, tool: RealTool): Promise<ReadyTool | null> {
  const room = openRoom(t);
  try {
    writeStarter(join(room.home, "bin", tool.program), await commandFor(tool));
    const ready: ReadyTool = {
      ...room,
      configure: (path, content) => writeBelow(join(room.home, path), content),
      run: (...args) => runBounded(t, [join(room.home, "bin", tool.program), ...args], room),
    };
    const { code, stdout, stderr } = await ready.run("--version");
    if (code !== 0 || !(stdout + stderr).includes(tool.version))
      throw new Error(`it does not run here: ${stderr}`);
    return ready;
  } catch (error) {
    skipWithout(t, tool, error);
    return null;
  }
}

/** An empty home with an empty working directory, gone with the test. */
export function openRoom(t: TestContext): ToolRoom {
  const home = scratchDirectory(t);
  const work = join(home, "work");
  mkdirSync(work);
  return { home, work, env: toolEnvironment(home) };
}

/** Skips the test, and says loudly what could not be had. */
export function skipWithout(t: TestContext, { package: name, version }: ToolPackage, error: unknown): void {
  const reason = `${name}@${version}: ${error instanceof Error ? error.message : String(error)}`;
  t.diagnostic(`SKIPPED: ${reason}`);
  t.skip(reason);
}

async function commandFor(tool: RealTool): Promise<string[]> {
  const entry = join(await installPackages(tool), tool.entry);
  if (tool.runner === "itself") return [entry];
  return [tool.runner === "node" ? process.execPath : await findNode22(), entry];
}

/** No shell stays between. */
function writeStarter(path: string, command: readonly string[]): void {
  writeBelow(path, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`, 0o755);
}

function writeBelow(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}

/** No credential of the tester's, and no way out: all but loopback goes to a proxy that is not there. */
function toolEnvironment(home: string): Record<string, string> {
  return {
    PATH: [join(home, "bin"), process.env["PATH"] ?? ""].join(delimiter),
    HOME: home,
    SHELL: "/bin/bash",
    HTTPS_PROXY: "http://127.0.0.1:9",
    HTTP_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
  };
}
