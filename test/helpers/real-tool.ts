import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { CommandResult } from "./daemon.ts";
import { scratchDirectory } from "./keyring.ts";

/** An AI tool as npm has it, at the version that facts/clients.md section 2 tells of. */
export interface RealTool {
  package: string;
  version: string;
  /** What to run with Node; both packages find their native program from there, so no install script is needed. */
  entry: string;
}

export const CLAUDE_CODE: RealTool = {
  package: "@anthropic-ai/claude-code",
  version: "2.1.329",
  entry: "cli-wrapper.cjs",
};

export const CODEX: RealTool = { package: "@openai/codex", version: "0.169.0", entry: "bin/codex.js" };

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/tollkeeper-tools/", import.meta.url));

/** Half a gigabyte may have to come. */
const INSTALL_LIMIT_MS = 300_000;

const RUN_LIMIT_MS = 120_000;

/** One tool, ready to be run, with a home of its own. */
export interface ReadyTool {
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
  const home = scratchDirectory(t);
  const work = join(home, "work");
  mkdirSync(work);
  try {
    const program = await installOnce(tool);
    const ready: ReadyTool = {
      configure(path, content) {
        mkdirSync(dirname(join(home, path)), { recursive: true });
        writeFileSync(join(home, path), content);
      },
      run: (...args) => runBounded(t, [program, ...args], { home, work }),
    };
    const { code, stdout, stderr } = await ready.run("--version");
    if (code !== 0 || !stdout.includes(tool.version)) throw new Error(`it does not run here: ${stderr}`);
    return ready;
  } catch (error) {
    const reason = `${tool.package}@${tool.version}: ${error instanceof Error ? error.message : String(error)}`;
    t.diagnostic(`SKIPPED: ${reason}`);
    t.skip(reason);
    return null;
  }
}

const installing = new Map<RealTool, Promise<string>>();

/** A registry that cannot be reached is waited for once and not in every test. */
function installOnce(tool: RealTool): Promise<string> {
  const known = installing.get(tool) ?? install(tool);
  installing.set(tool, known);
  return known;
}

/** The tool's entry in the cache. Another test run may be at it, too: what is there is whole. */
async function install(tool: RealTool): Promise<string> {
  const directory = join(CACHE, `${tool.package.replace(/^.*\//, "")}-${tool.version}`);
  const program = join(directory, "node_modules", tool.package, tool.entry);
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  try {
    await npmInstall(draft, `${tool.package}@${tool.version}`);
    if (!existsSync(program)) renameSync(draft, directory);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return program;
}

async function npmInstall(directory: string, what: string): Promise<void> {
  const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  const args = ["install", "--prefix", directory, "--fetch-retries=1", ...flags, what];
  try {
    await promisify(execFile)("npm", args, { timeout: INSTALL_LIMIT_MS });
  } catch (cause) {
    const { message, stderr = "" } = cause as Error & { stderr?: string };
    const said = stderr.split("\n").filter((line) => line.startsWith("npm error"));
    throw new Error(said.slice(0, 4).join("; ") || message, { cause });
  }
}

/** Runs a program with Node, and ends it with all that it started. */
async function runBounded(
  t: TestContext,
  args: string[],
  { home, work }: { home: string; work: string },
): Promise<CommandResult> {
  const child = spawn(process.execPath, args, {
    cwd: work,
    env: toolEnvironment(home),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const end = () => endGroup(child.pid);
  t.after(end);
  const timer = setTimeout(end, RUN_LIMIT_MS);
  const exit = once(child, "exit").then(([code]) => {
    clearTimeout(timer);
    // What stays behind would hold the outputs open.
    end();
    return code as number | null;
  });
  const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

/** No credential of the tester's, and no way out: all but loopback goes to a proxy that is not there. */
function toolEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    HTTPS_PROXY: "http://127.0.0.1:9",
    HTTP_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
  };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended, and all of its children.
  }
}
