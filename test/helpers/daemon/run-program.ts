import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { withLimit } from "../async/limit.ts";
import type { CommandResult } from "./daemon.ts";
import { PROGRAM, resultOf } from "./program.ts";

const RUNNER = fileURLToPath(new URL("./commands-in-turn.mjs", import.meta.url));

/** Node and its libraries read these once, at the start of a process. */
const READ_AT_START = /^(NODE_|SSL_|LD_|UV_|LC_|LANG|DEBUG|FORCE_COLOR|NO_COLOR)/;

/** A process that runs commands one after another. */
interface Runner {
  child: ChildProcess;
  /** Resolves with the exit code of the process: a command has ended it. */
  ended: Promise<number | null>;
  isBusy: boolean;
}

/** By how they were started. */
const runners = new Map<string, Runner>();

/** As many are kept: each has some 60 MB. */
const MAX_RUNNERS = 3;

/** Where and with what a command runs. */
export interface RunOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string | undefined;
  /** A command that execs the command appended to it. */
  launcher?: readonly string[];
  /** The user id it runs with; as root only. By default that of the tests. */
  uid?: number;
  /** What its standard input, which is no terminal, gives. */
  input?: string;
  /** It runs in a process of its own: that is the subject, or passes its standard input on. */
  isAlone?: boolean;
}

/**
 * Runs a command of the compiled program and waits for its end. It runs in a process that this test file has for all its commands, since a
 * process of its own costs each of them 0.1 s. A command gets its own while another one runs there, or with `isAlone`.
 */
export function runProgram(args: readonly string[], options: RunOptions): Promise<CommandResult> {
  const { env, cwd, launcher = [], uid, input = "", isAlone = false } = options;
  const runner = isAlone ? null : runnerFor(env, launcher, uid);
  if (runner !== null && !runner.isBusy) return runInTurn(runner, args, options);
  const [file = "", ...words] = [...launcher, process.execPath, PROGRAM, ...args];
  const child = spawn(file, words, { env, cwd, ...(uid !== undefined && { uid }) });
  // A command that rejects its arguments exits without reading its input.
  child.stdin.on("error", () => {}).end(input);
  return resultOf(child, args);
}

/** Returns what runs commands with this environment in the order of the calls, each after the one before. */
export function openCommandLine(
  env: NodeJS.ProcessEnv,
  cwd?: string,
): (...args: string[]) => Promise<CommandResult> {
  let before: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const result = before.then(() => runProgram(args, { env, cwd }));
    before = result.catch(() => {});
    return result;
  };
}

function runnerFor(env: NodeJS.ProcessEnv, launcher: readonly string[], uid: number | undefined): Runner {
  const readAtStart = Object.entries(env).filter(([name]) => READ_AT_START.test(name));
  const kind = JSON.stringify([launcher, uid, readAtStart]);
  const known = runners.get(kind);
  if (known !== undefined) return known;
  if (runners.size >= MAX_RUNNERS) endIdle();
  const [file, ...words] = [...launcher, process.execPath, RUNNER, PROGRAM];
  const child = spawn(file, words, {
    env: { PATH: process.env["PATH"], ...Object.fromEntries(readAtStart) },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    ...(uid !== undefined && { uid }),
  });
  const ended = once(child, "close").then(([code]) => {
    runners.delete(kind);
    return code as number | null;
  });
  const runner = { child, ended, isBusy: false };
  runners.set(kind, runner);
  return runner;
}

/** Ends the oldest one that runs no command. */
function endIdle(): void {
  const [kind, runner] = [...runners].find(([, { isBusy }]) => !isBusy) ?? [];
  if (kind === undefined) return;
  runners.delete(kind);
  runner?.child.disconnect();
}

async function runInTurn(
  runner: Runner,
  args: readonly string[],
  { env, cwd = process.cwd(), input = "" }: RunOptions,
): Promise<CommandResult> {
  const { child } = runner;
  runner.isBusy = true;
  hold(child, true);
  const end = randomUUID();
  const outputs = [child.stdout, child.stderr].map((stream) => readTo(stream as Readable, end));
  child.send({ args, env, cwd, input, end });
  const codes = await withLimit(
    Promise.race([Promise.all(outputs.map(({ done }) => done)), runner.ended]),
    () =>
      `the end of tollkeeper ${args.join(" ")}, which printed:\n${outputs.map(({ text }) => text()).join("")}`,
  );
  for (const { stop } of outputs) stop();
  const [stdout = "", stderr = ""] = outputs.map(({ text }) => text());
  if (!Array.isArray(codes)) return { code: codes, stdout, stderr };
  runner.isBusy = false;
  hold(child, false);
  return { code: codes[0] ?? null, stdout, stderr };
}

/** Keeps this process alive for the child, or does not. */
function hold(child: ChildProcess, isHeld: boolean): void {
  const change = isHeld ? "ref" : "unref";
  child[change]();
  child.channel?.[change]();
  for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.[change]();
}

/** Reads up to the line with `end`, which an exit code follows. */
function readTo(stream: Readable, end: string) {
  let text = "";
  let onEnd: (code: number) => void;
  const done = new Promise<number>((resolve) => (onEnd = resolve));
  const read = (chunk: string) => {
    text += chunk;
    const at = text.indexOf(end);
    if (at === -1 || !text.endsWith("\n")) return;
    const code = Number(text.slice(at + end.length));
    text = text.slice(0, at);
    onEnd(code);
  };
  stream.setEncoding("utf8").on("data", read);
  return { done, text: () => text, stop: () => stream.off("data", read) };
}
