import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { PassThrough } from "node:stream";
import type { TestContext } from "node:test";
import { withLimit } from "../async/limit.ts";
import type { Daemon } from "./daemon.ts";
import { PROGRAM } from "./program.ts";

/** A running `tollkeeper tail`, connected to its daemon. */
export interface Tail {
  /** The lines of its standard output. */
  lines: AsyncIterator<string>;
  /** The lines of its standard error. */
  notes: AsyncIterator<string>;
  /** Resolves with all of its standard output when it ends. */
  output: Promise<string>;
  /** Ends it. It does not end with its daemon. */
  stop(): void;
}

/** Starts `tollkeeper tail` and waits until it is connected. Ends with the test. */
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
  const first = await withLimit(notes.next(), () => "the first note of tollkeeper tail");
  assert.equal(first.value, "waiting for requests; stop with Ctrl-C");
  return { lines, notes, output, stop: () => void child.kill("SIGTERM") };
}
