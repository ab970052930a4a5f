import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { askDaemon } from "../../../src/adapters/control-socket.ts";
import { readLedger } from "../../../src/adapters/ledger-file.ts";
import type { DaemonStatus } from "../../../src/daemon/status.ts";
import { dayOf } from "../../../src/core/ledger/day.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { findContradiction } from "../../../src/core/ledger/verify/contradictions.ts";
import type { BoundSockets } from "../process/bound-sockets.ts";
import { withLimit } from "../async/limit.ts";
import { removeDirectory } from "../process/scratch-directory.ts";
import { PROGRAM, resultOf } from "./program.ts";
import { runProgram } from "./run-program.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface DaemonOptions {
  /** The configuration file, as a value or as text. Without upstreams the daemon uses the built-in sandbox. */
  config?: object | string;
  /** Added to the scratch environment, which has nothing of the user who runs the tests. */
  env?: Record<string, string>;
  /** Added to `config` unless that is text. The default, 0, takes any free port. */
  port?: number;
  /** More arguments of `serve`. */
  args?: string[];
  /** The `main.js` of the daemon and of its commands; by default the one in `dist`. */
  program?: string;
  /** The working directory; by default the project's root. */
  cwd?: string;
  /** A command that execs the command appended to it. */
  launcher?: string[];
  /** Sockets to pass as a service manager does. */
  sockets?: BoundSockets;
  /** Closes the reading end of its standard output right after the start. */
  isOutputClosed?: boolean;
}

/** The exit code and output of a command. */
export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A daemon in a separate process, with its own home directory. */
export interface Daemon {
  /** `http://127.0.0.1:PORT` */
  url: string;
  port: number;
  pid: number;
  /** The scratch directory that holds all its files. */
  home: string;
  configFile: string;
  /** The complete environment for other programs of the same user. */
  env: Record<string, string>;
  stdout(): string;
  stderr(): string;
  /** Resolves with its output so far (stdout, then stderr) once that matches. Rejects when the daemon ends first. */
  waitForOutput(pattern: RegExp): Promise<string>;
  status(): Promise<DaemonStatus>;
  /** Closes the reading ends of its stdout and stderr. */
  closeOutputs(): void;
  /** Reads every record of its ledger, oldest first. Fails on an unreadable line, and on a record that contradicts itself. */
  ledger(): Promise<UsageRecord[]>;
  /** Runs a tollkeeper command in the daemon's environment and waits for its end. `runProgram` says where. */
  command(...args: string[]): Promise<CommandResult>;
  /** Resolves with its exit code, or null when a signal ended it. */
  ended: Promise<number | null>;
  /** Sends SIGTERM; resolves like `ended`. */
  stop(): Promise<number | null>;
}

/** A daemon that is being started. */
export interface DaemonStart {
  pid: number;
  /** Resolves once it listens. Rejects with its output when it ends first. */
  ready: Promise<Daemon>;
  /** Sends SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
}

/** Runs `tollkeeper serve` until the test ends. Resolves once it listens; rejects with its output when it ends first. */
export async function startDaemon(t: TestContext, options: DaemonOptions = {}): Promise<Daemon> {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const { ready, kill } = launchDaemon(home, options);
  t.after(async () => {
    // Not SIGTERM, because the daemon would drain first. The directory goes last, as the daemon still writes to it.
    await kill();
    removeDirectory(home);
  });
  return ready;
}

/** Runs `tollkeeper serve` in the given home, which an earlier daemon may have used. */
export function launchDaemon(home: string, options: DaemonOptions = {}): DaemonStart {
  const env = { ...scratchEnvironment(home), ...options.env };
  const configFile = writeConfig(home, options);
  const child = spawnProgram(env, ["serve", "--config", configFile, ...(options.args ?? [])], options);
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const { stdout, stderr, waitForOutput } = collectOutput(child);
  if (options.isOutputClosed === true) child.stdout?.destroy();
  const status = () => askDaemon(join(env.XDG_RUNTIME_DIR, "tollkeeper", "control.sock"), "status");
  const listen = async (): Promise<Daemon> => {
    await waitForOutput(options.isOutputClosed === true ? /tollkeeper is ready/ : /listens on [^\n]*\n/);
    const { pid, ledger, listening } = (await status()) as DaemonStatus;
    const port = Number(listening[0]?.split(":").at(-1));
    return {
      url: `http://127.0.0.1:${port}`,
      port,
      pid,
      home,
      configFile,
      env,
      stdout,
      stderr,
      waitForOutput,
      closeOutputs() {
        for (const output of Object.values(outputsOf(child))) output.destroy();
      },
      ended,
      status: async () => (await status()) as DaemonStatus,
      ledger: () => recordsIn(ledger.directory),
      command: (...args) => runCommand(env, [...args, "--config", configFile], options),
      stop() {
        child.kill("SIGTERM");
        return ended;
      },
    };
  };
  return {
    pid: child.pid ?? 0,
    ready: listen(),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Creates a home without a running daemon. It is removed with the test. */
export function prepareHome(
  t: TestContext,
  options: Pick<DaemonOptions, "config" | "env">,
): Pick<Daemon, "home" | "configFile" | "env" | "command"> {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => removeDirectory(home));
  const env = { ...scratchEnvironment(home), ...options.env };
  const configFile = writeConfig(home, options);
  return { home, configFile, env, command: (...args) => runCommand(env, [...args, "--config", configFile]) };
}

/** Hides the credentials, keychain and configuration of the user who runs the tests. */
function scratchEnvironment(home: string) {
  const runtime = join(home, "run");
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_RUNTIME_DIR: runtime,
  };
}

function writeConfig(home: string, { config = {}, port = 0 }: DaemonOptions): string {
  // Where commands without --config look for it, so that their messages need not name it.
  const file = join(home, "config", "tollkeeper", "config.jsonc");
  mkdirSync(dirname(file), { recursive: true });
  const listen = { port, ...(config as { listen?: object }).listen };
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify({ ...config, listen }));
  return file;
}

/** A shell sets LISTEN_PID because only the process itself knows its pid (sd_listen_fds(3)). */
const PASS_SOCKETS = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh"];

function spawnProgram(
  env: Record<string, string>,
  args: string[],
  {
    cwd = ROOT,
    launcher = [],
    program = PROGRAM,
    sockets,
  }: Pick<DaemonOptions, "cwd" | "launcher" | "program" | "sockets"> = {},
): ChildProcess {
  const descriptors = sockets?.descriptors ?? [];
  const prefix = descriptors.length > 0 ? PASS_SOCKETS : [];
  const [file, ...words] = [...launcher, ...prefix, process.execPath, program, ...args];
  const fullEnv = { ...env, ...(descriptors.length > 0 && { LISTEN_FDS: String(descriptors.length) }) };
  return spawn(file ?? "", words, { cwd, env: fullEnv, stdio: ["ignore", "pipe", "pipe", ...descriptors] });
}

function runCommand(
  env: Record<string, string>,
  args: string[],
  { program }: Pick<DaemonOptions, "program"> = {},
): Promise<CommandResult> {
  return program === undefined
    ? runProgram(args, { env, cwd: ROOT })
    : resultOf(spawnProgram(env, args, { program }), args);
}

function outputsOf({ stdout, stderr }: ChildProcess) {
  assert.ok(stdout !== null && stderr !== null);
  return { stdout, stderr };
}

/** Collects the output of a process. */
function collectOutput(child: ChildProcess): Pick<Daemon, "stdout" | "stderr" | "waitForOutput"> {
  const output = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  const streams = outputsOf(child);
  for (const name of ["stdout", "stderr"] as const) {
    streams[name].setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
      for (const check of waiting) check();
    });
  }
  const all = () => output.stdout + output.stderr;
  const closed = once(child, "close");
  const waitForOutput = (pattern: RegExp) => {
    const matched = new Promise<string>((resolve, reject) => {
      const check = () => {
        if (pattern.test(all())) resolve(all());
      };
      waiting.add(check);
      void closed.then(() =>
        reject(new Error(`ended before its output matched ${String(pattern)}:\n${all()}`)),
      );
      check();
    });
    return withLimit(matched, () => `${String(pattern)} in the daemon's output:\n${all()}`);
  };
  return { stdout: () => output.stdout, stderr: () => output.stderr, waitForOutput };
}

async function recordsIn(directory: string): Promise<UsageRecord[]> {
  const records: UsageRecord[] = [];
  for await (const entry of readLedger(directory, { from: "" })) {
    if ("unreadable" in entry) assert.fail(`line ${entry.line} of ${entry.file} is not a record`);
    assert.equal(findContradiction(entry, dayOf(entry.ts)), null, JSON.stringify(entry));
    records.push(entry);
  }
  return records;
}
