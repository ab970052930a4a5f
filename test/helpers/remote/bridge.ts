import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { withLimit } from "../async/limit.ts";
import { PROGRAM } from "../daemon/program.ts";

/** A `tollkeeper bridge` in a process of its own. */
export interface Bridge {
  pid: number;
  port: number;
  /** `http://127.0.0.1:PORT` */
  url: string;
  stderr(): string;
  /** Resolves with its standard error once that matches. Rejects when it ends first. */
  waitForNote(pattern: RegExp): Promise<string>;
  /** Sends a signal. */
  signal(name: NodeJS.Signals): void;
  /** Resolves with its exit code, or null when a signal ended it. */
  ended: Promise<number | null>;
}

export interface BridgeOptions {
  /** More arguments. */
  args?: string[];
  /** A command that execs the command appended to it. */
  launcher?: string[];
  env?: Record<string, string>;
}

/** Starts a bridge on a free port until the test ends. Resolves once it listens; rejects with its output if it ends first. */
export async function startBridge(
  t: TestContext,
  socket: string,
  { args = ["--port", "0"], launcher = [], env = {} }: BridgeOptions = {},
): Promise<Bridge> {
  const [file = "", ...words] = [
    ...launcher,
    process.execPath,
    PROGRAM,
    "bridge",
    "--socket",
    socket,
    ...args,
  ];
  const child = spawn(file, words, {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      for (const check of waiting) check();
    });
  }
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const closed = once(child, "close");
  const waitFor = (name: keyof typeof output, pattern: RegExp) => {
    const matched = new Promise<string>((resolve, reject) => {
      const check = () => {
        if (pattern.test(output[name])) resolve(output[name]);
      };
      waiting.add(check);
      void closed.then(() =>
        reject(new Error(`ended before ${String(pattern)}: ${output.stdout}${output.stderr}`)),
      );
      check();
    });
    return withLimit(
      matched,
      () => `${String(pattern)} in the bridge's output: ${output.stdout}${output.stderr}`,
    );
  };
  const ready = await waitFor("stdout", /listens on [^\n]*\n/);
  const port = Number(/:(\d+)/.exec(ready)?.[1]);
  return {
    pid: child.pid ?? 0,
    port,
    url: `http://127.0.0.1:${port}`,
    stderr: () => output.stderr,
    waitForNote: (pattern) => waitFor("stderr", pattern),
    signal: (name) => void child.kill(name),
    ended,
  };
}
