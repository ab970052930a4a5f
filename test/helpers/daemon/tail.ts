import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { PassThrough } from "node:stream";
import type { TestContext } from "node:test";
import type { Daemon } from "./daemon.ts";
import { PROGRAM } from "./program.ts";

/** `tollkeeper tail` beside a daemon, from when it hears of every exchange. */
export interface Tail {
  /** Lines of its standard output, and of its standard error. */
  lines: AsyncIterator<string>;
  notes: AsyncIterator<string>;
  /** All of its standard output, once it has ended. */
  output: Promise<string>;
  /** Its exit code and signal. */
  ended: Promise<unknown[]>;
}

/** Starts one, which ends with the test. */
export async function startTail(t: TestContext, { home }: Daemon, ...args: string[]): Promise<Tail> {
  const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: `${home}/run`, XDG_STATE_HOME: `${home}/state` };
  const child = spawn(process.execPath, [PROGRAM, "tail", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const notes = createInterface(child.stderr)[Symbol.asyncIterator]();
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const output = text(child.stdout.pipe(new PassThrough()));
  const ended = once(child, "exit");
  assert.equal((await notes.next()).value, "waiting for exchanges; Ctrl-C ends this");
  return { lines, notes, output, ended };
}
