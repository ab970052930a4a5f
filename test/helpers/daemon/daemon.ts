import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { askDaemon } from "../../../src/adapters/control-socket.ts";
import { readLedger } from "../../../src/adapters/ledger-file/reader.ts";
import type { DaemonStatus } from "../../../src/daemon/status-types.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { BoundSockets } from "../process/bound-sockets.ts";
import { PROGRAM } from "./program.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface DaemonOptions {
  /** The configuration file: what it says, or its whole text. Without upstreams the built-in sandbox serves. */
  config?: object | string;
  /** On top of the scratch environment, in which nothing of the tester's own can be found. */
  env?: Record<string, string>;
  /** 0, the default, takes any free one. Goes into `config` unless that is a text. */
  port?: number;
  /** More arguments of `serve`. */
  args?: string[];
  /** Working directory; the project's root when none is given. */
  cwd?: string;
  /** A command that ends in running, in its own place, the one that is appended to it. */
  launcher?: string[];
  /** Sockets that it is handed as a service manager does. */
  sockets?: BoundSockets;
  /** Nobody reads its standard output: from the beginning the pipe has no other end. */
  isOutputClosed?: boolean;
}

/** How a command of the program ended, and what it said. */
export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A daemon in a process of its own, with a home of its own. */
export interface Daemon {
  /** `http://127.0.0.1:PORT` */
  url: string;
  port: number;
  pid: number;
  /** The scratch directory that everything of its lies in. */
  home: string;
  configFile: string;
  /** Where a program of this person runs: with these variables alone. */
  env: Record<string, string>;
  stdout(): string;
  stderr(): string;
  /** What it said so far, standard output before standard error, once that matches. Rejects when it ends before. */
  waitForOutput(pattern: RegExp): Promise<string>;
  status(): Promise<DaemonStatus>;
  /** From now on nobody reads what it says: its pipes have no other end. */
  closeOutputs(): void;
  /** Every record of its ledger, oldest first; fails on a line that is none. */
  ledger(): Promise<UsageRecord[]>;
  /** Runs a command of the program to its end, in the daemon's surroundings. */
  command(...args: string[]): Promise<CommandResult>;
  /** Its exit code once it has ended, null after a signal. */
  ended: Promise<number | null>;
  /** Sends SIGTERM; resolves as `ended` does. */
  stop(): Promise<number | null>;
}

/** A daemon that is being started. */
export interface DaemonStart {
  pid: number;
  /** Resolves once it listens; rejects with what it said when it ends before. */
  ready: Promise<Daemon>;
  /** Ends it without warning; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Runs `tollkeeper serve` until the test ends; resolves once it listens. Rejects with what it said when it ends before. */
export async function startDaemon(t: TestContext, options: DaemonOptions = {}): Promise<Daemon> {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const { ready, kill } = launchDaemon(home, options);
  t.after(async () => {
    // A stopped test does not wait for a drain; and the directory goes after its user.
    await kill();
    rmSync(home, { recursive: true, force: true });
  });
  return ready;
}

/** Runs `tollkeeper serve` in a home that may have had a daemon before. */
export function launchDaemon(home: string, options: DaemonOptions = {}): DaemonStart {
  const env = { ...scratchEnvironment(home), ...options.env };
  const configFile = writeConfig(home, options);
  const child = runProgram(env, ["serve", "--config", configFile, ...(options.args ?? [])], options);
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
      command: (...args) => runCommand(env, [...args, "--config", configFile]),
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

/** A home in which no daemon runs; gone with the test. */
export function prepareHome(
  t: TestContext,
  options: Pick<DaemonOptions, "config" | "env">,
): Pick<Daemon, "home" | "configFile" | "env" | "command"> {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const env = { ...scratchEnvironment(home), ...options.env };
  const configFile = writeConfig(home, options);
  return { home, configFile, env, command: (...args) => runCommand(env, [...args, "--config", configFile]) };
}

/** No credential, no keychain and no configuration of the tester's can be found from here. */
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
  const file = join(home, "config.jsonc");
  const listen = { port, ...(config as { listen?: object }).listen };
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify({ ...config, listen }));
  return file;
}

/** Only the process itself can say its own id (sd_listen_fds(3)). */
const PASS_SOCKETS = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh"];

function runProgram(
  env: Record<string, string>,
  args: string[],
  { cwd = ROOT, launcher = [], sockets }: Pick<DaemonOptions, "cwd" | "launcher" | "sockets"> = {},
): ChildProcess {
  const descriptors = sockets?.descriptors ?? [];
  const handOver = descriptors.length > 0 ? PASS_SOCKETS : [];
  const [file, ...words] = [...launcher, ...handOver, process.execPath, PROGRAM, ...args];
  const fullEnv = { ...env, ...(descriptors.length > 0 && { LISTEN_FDS: String(descriptors.length) }) };
  return spawn(file ?? "", words, { cwd, env: fullEnv, stdio: ["ignore", "pipe", "pipe", ...descriptors] });
}

async function runCommand(env: Record<string, string>, args: string[]): Promise<CommandResult> {
  const child = runProgram(env, args);
  const { stdout, stderr } = outputsOf(child);
  const [out, err, [code]] = await Promise.all([
    text(stdout),
    text(stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout: out, stderr: err };
}

function outputsOf({ stdout, stderr }: ChildProcess) {
  assert.ok(stdout !== null && stderr !== null);
  return { stdout, stderr };
}

/** Keeps what a process says. */
function collectOutput(child: ChildProcess): Pick<Daemon, "stdout" | "stderr" | "waitForOutput"> {
  const said = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  const outputs = outputsOf(child);
  for (const name of ["stdout", "stderr"] as const) {
    outputs[name].setEncoding("utf8").on("data", (piece: string) => {
      said[name] += piece;
      for (const check of waiting) check();
    });
  }
  const all = () => said.stdout + said.stderr;
  const closed = once(child, "close");
  const waitForOutput = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        if (pattern.test(all())) resolve(all());
      };
      waiting.add(check);
      void closed.then(() => reject(new Error(`ended before it said ${String(pattern)}:\n${all()}`)));
      check();
    });
  return { stdout: () => said.stdout, stderr: () => said.stderr, waitForOutput };
}

async function recordsIn(directory: string): Promise<UsageRecord[]> {
  const records: UsageRecord[] = [];
  for await (const entry of readLedger(directory, { from: "" })) {
    if ("unreadable" in entry) assert.fail(`line ${entry.line} of ${entry.file} is no record`);
    records.push(entry);
  }
  return records;
}
