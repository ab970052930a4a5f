import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { runBounded, type ToolHome } from "../process/run-bounded.ts";
import type { CommandResult } from "../daemon/daemon.ts";
import { type Scope, scratchDirectory } from "../process/scratch-directory.ts";
import { findNode22, installPackages, type ToolPackage } from "./tool-packages.ts";

/** An AI tool that npm can install. */
export interface RealTool extends ToolPackage {
  /** The command that users type. */
  program: string;
  /** Path below node_modules. */
  entry: string;
  /** What runs the entry; `itself` for a native program. */
  runner: "node" | "node 22" | "itself";
}

export const CLAUDE_CODE: RealTool = {
  package: "@anthropic-ai/claude-code",
  version: "2.1.332",
  program: "claude",
  // It finds the native program, so the package's install script need not run.
  entry: "@anthropic-ai/claude-code/cli-wrapper.cjs",
  runner: "node",
};

export const CODEX: RealTool = {
  package: "@openai/codex",
  version: "0.171.0",
  program: "codex",
  entry: "@openai/codex/bin/codex.js",
  runner: "node",
};

/** An installed tool with an empty home, on whose PATH it is. */
export interface InstalledTool extends ToolHome {
  /** Writes a file below the home directory. */
  configure(path: string, content: string): void;
  /** Runs the tool on empty standard input until it exits, for two minutes at most. */
  run(...args: string[]): Promise<CommandResult>;
}

/**
 * Installs the tool, once for all test runs, and creates an empty home and an empty working directory for it. Skips the
 * test and returns null when npm cannot install it or this machine cannot run it.
 */
export async function installTool(t: TestContext, tool: RealTool): Promise<InstalledTool | null> {
  try {
    return await openTool(t, tool);
  } catch (error) {
    skipUnavailable(t, tool, error);
    return null;
  }
}

/** Like {@link installTool}, but rejects where that skips the test. */
export async function openTool(t: Scope, tool: RealTool): Promise<InstalledTool> {
  const home = createToolHome(t);
  writeLauncher(join(home.home, "bin", tool.program), await commandFor(tool));
  const ready: InstalledTool = {
    ...home,
    configure: (path, content) => writeBelow(join(home.home, path), content),
    run: (...args) => runBounded(t, [join(home.home, "bin", tool.program), ...args], home),
  };
  const { code, stdout, stderr } = await ready.run("--version");
  if (code !== 0 || !(stdout + stderr).includes(tool.version))
    throw new Error(`it does not run here: ${stderr}`);
  return ready;
}

/** Creates an empty home with an empty working directory; both are removed after the test. */
export function createToolHome(t: Scope): ToolHome {
  const home = scratchDirectory(t);
  const work = join(home, "work");
  mkdirSync(work);
  return { home, work, env: toolEnvironment(home) };
}

/** Skips the test and reports which package is not available, and why. */
export function skipUnavailable(
  t: TestContext,
  { package: name, version }: ToolPackage,
  error: unknown,
): void {
  const reason = `${name}@${version}: ${error instanceof Error ? error.message : String(error)}`;
  t.diagnostic(`SKIPPED: ${reason}`);
  t.skip(reason);
}

async function commandFor(tool: RealTool): Promise<string[]> {
  const entry = join(await installPackages(tool), tool.entry);
  if (tool.runner === "itself") return [entry];
  return [tool.runner === "node" ? process.execPath : await findNode22(), entry];
}

/** The shell replaces itself by the command, so that no process is in between. */
function writeLauncher(path: string, command: readonly string[]): void {
  writeBelow(path, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`, 0o755);
}

function writeBelow(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}

/** Holds none of the tester's credentials. Everything but loopback goes to a proxy that does not exist. */
function toolEnvironment(home: string): Record<string, string> {
  return {
    PATH: [join(home, "bin"), process.env["PATH"] ?? ""].join(delimiter),
    HOME: home,
    // Claude Code ignores TMPDIR.
    ...Object.fromEntries(["TMPDIR", "CLAUDE_CODE_TMPDIR"].map((name) => [name, tmpdir()])),
    SHELL: "/bin/bash",
    HTTPS_PROXY: "http://127.0.0.1:9",
    HTTP_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
  };
}
