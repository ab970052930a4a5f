import { spawn, type ChildProcess } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import { sanitizeText } from "../../core/config/problem.ts";
import { KeyFailure, type KeyFix } from "../../core/failure.ts";
import { redactSecrets } from "../../core/secrets/redact-text.ts";
import type { Exposure } from "../trust/exposure.ts";
import { inspectCommand } from "../trust/inspect-command.ts";

/** In characters. More than a key, because `pass show` prints a whole note below it. */
const MAX_OUTPUT = 64 * 1024;

/** How much of the last line of standard error is shown, in characters. */
const MAX_ERROR_LENGTH = 200;

/** Shorter texts are no secrets: see {@link Secret}. */
const MIN_SECRET = 8;

const HIDDEN = "[hidden]";

/** For a key source that is wrong. */
export const CORRECT_SOURCE: KeyFix = {
  hint: 'correct "keySource": tollkeeper config edit',
  command: "tollkeeper config edit",
};

/** For a command without permission to be run. Its path is in the failure's detail, which clients do not get. */
const MAKE_EXECUTABLE: KeyFix = {
  hint: `find the file with: tollkeeper status; make it executable with: chmod u+x FILE; or ${CORRECT_SOURCE.hint}`,
  command: "tollkeeper status",
};

/** For a command that fails. `status` shows the failure's detail, which clients do not get. */
const SEE_OUTPUT: KeyFix = {
  hint: `see its output with: tollkeeper status; or try it in a terminal; then ${CORRECT_SOURCE.hint}`,
  command: "tollkeeper status",
};

/** How a command ended and what it had printed; `limit` is the limit that it exceeded, if any. */
interface CommandResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  limit: "time" | "output" | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs the command without a shell and resolves to what it has printed when it exits, or soon after if
 * that is nothing. Processes that it leaves running are left alone, and what they print is not read any further. Kills its
 * process group when it takes longer than `timeoutMs`. Rejects with a KeyFailure, whose message contains nothing of the command
 * because clients get it; or with Node's error for an invalid command line. A command that somebody else could change is not run.
 */
export async function runKeyCommand(
  argv: readonly [string, ...string[]],
  timeoutMs: number,
): Promise<string> {
  const [file, ...args] = argv;
  const { program, exposure } = await inspectCommand(argv, process.env["PATH"] ?? "");
  if (exposure !== null) throw canBeChanged(exposure);
  const result = await run(file, args, program, timeoutMs);
  const { code, limit, stdout, stderr } = result;
  if (code === 0 && limit === null) return stdout;
  const detail = [file, lastErrorLine(stderr, stdout)].filter(Boolean).join(": ");
  if (limit === "output") throw unavailable("printed far more than a key", SEE_OUTPUT, detail);
  if (limit === "time") {
    const message = `the key command did not finish within ${timeoutMs / 1000} seconds`;
    throw new KeyFailure("unresponsive", message, SEE_OUTPUT, { detail });
  }
  const how = code === null ? `signal ${result.signal}` : `exit code ${code}`;
  throw unavailable(`failed with ${how}`, SEE_OUTPUT, detail);
}

/** @param program the path of `file`, as it was examined; null when there is none, for spawn to say why */
function run(
  file: string,
  args: string[],
  program: string | null,
  timeoutMs: number,
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    // Detached, for a process group that can be killed as a whole. Standard input is closed, so that a command that asks
    // for a passphrase fails instead of waiting.
    const child: ChildProcess = spawn(program ?? file, args, {
      argv0: file,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const output = { stdout: "", stderr: "" };
    const settle = (limit: CommandResult["limit"]) => {
      clearTimeout(timer);
      const { exitCode: code, signalCode: signal } = child;
      if (limit !== null) killGroup(child);
      closePipes(child);
      resolve({ code, signal, limit, ...output });
    };
    // The pipes reach their end much later, if the command has left a process running that holds them.
    const settleAfterExit = async () => {
      await readPipes();
      if (child.exitCode !== 0 || output.stdout !== "") settle(null);
    };
    const timer = setTimeout(() => settle(hasExited(child) ? null : "time"), timeoutMs);
    // Without a free descriptor there are no pipes, and an error without a listener would end the daemon.
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
      if (output.stdout.length > MAX_OUTPUT) settle("output");
      else if (hasExited(child)) void settleAfterExit();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      output.stderr = (output.stderr + text).slice(-MAX_OUTPUT);
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(cannotRun(file, error));
    });
    child.on("exit", () => void settleAfterExit());
    child.on("close", () => settle(null));
  });
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * Resolves when everything that is in the pipes has been read: between two calls of setImmediate, Node reads whatever is
 * there to be read.
 */
async function readPipes(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Processes that hold the other ends must not keep ours open, or the daemon alive. */
function closePipes(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Kills the command and its process group. Processes that have left the group are not waited for. */
function killGroup(child: ChildProcess): void {
  child.unref();
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is gone, or the system has no process groups.
    child.kill("SIGKILL");
  }
}

function cannotRun(file: string, error: NodeJS.ErrnoException): KeyFailure {
  if (error.code === "ENOENT") return unavailable("was not found", CORRECT_SOURCE, file);
  if (error.code === "EACCES") return unavailable("cannot be run: permission denied", MAKE_EXECUTABLE, file);
  return unavailable(`cannot be run (${error.code})`, CORRECT_SOURCE, file);
}

/** Its path, and the command that closes it, are in the detail. */
function canBeChanged({ describe, command }: Exposure): KeyFailure {
  const hint = "see which file, and the command that closes it, with: tollkeeper status";
  const detail = `${describe("it")}; close it with: ${command}`;
  return new KeyFailure(
    "unsafe",
    "the key command is not run: other users can change it",
    { hint, command: "tollkeeper status" },
    { detail },
  );
}

function unavailable(what: string, fix: KeyFix, detail: string): KeyFailure {
  return new KeyFailure("unavailable", `the key command ${what}`, fix, { detail });
}

/**
 * Returns the last line of standard error without what may be the key: everything that the command printed, and every word that may be
 * random. A command may print its arguments (`sh -x`), a request (`curl -v`) or what it could not parse.
 */
function lastErrorLine(stderr: string, stdout: string): string {
  const line = stderr.trimEnd().split("\n").at(-1) ?? "";
  const printed = stdout.split(/[\s"]+/).filter((word) => word.length >= MIN_SECRET);
  const rest = printed.reduce((text, word) => text.replaceAll(word, HIDDEN), line);
  const shown = redactSecrets(rest, []).replaceAll(WORD, (word) => {
    // Of a path, one part may be random.
    const parts = /^(?:~|\.{0,2})\//.test(word) ? word.split("/") : [word];
    return parts.map((part) => (mayBeRandom(part) ? HIDDEN : part)).join("/");
  });
  return sanitizeText(shown).slice(0, MAX_ERROR_LENGTH);
}

const WORD = /[^\s"'=,;()<>[\]{}]+/g;

/** True for letters with digits, and for more letters than a word of a message has. */
function mayBeRandom(word: string): boolean {
  return /[a-z]{20}/i.test(word) || (word.length >= MIN_SECRET && /\d/.test(word) && /[a-z]/i.test(word));
}
