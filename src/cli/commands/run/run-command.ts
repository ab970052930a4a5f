import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { Failure } from "../../../core/failure.ts";
import { hasCode, messageOf } from "../../../core/thrown.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { printFailure } from "../../terminal/console.ts";

/** A terminal sends these to the whole foreground process group, and so to the command. */
const TERMINAL_SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];

/** Sent to this process only, by a service manager or `kill`, and meant for the command. */
const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"];

/** The exit codes of shells (POSIX, Shell Command Language, section 2.8.2). */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const TERMINATED_BY_SIGNAL = 128;

/** How a command terminated. */
type ExitStatus = { code: number } | { signal: NodeJS.Signals };

/**
 * Runs a command with this process's standard streams, and waits for it. Like a shell, prints an error and returns code
 * 127 for a command that does not exist, and 126 for one that cannot be run.
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ExitStatus> {
  let child: ChildProcess | null = null;
  const forward = (signal: NodeJS.Signals) => void child?.kill(signal);
  // On a terminal the command has received these signals itself. Without one they come from a `kill` meant for it.
  const listeners = [
    ...TERMINAL_SIGNALS.map((signal) => ({ signal, listener: isOnTerminal() ? ignore : forward })),
    ...FORWARDED_SIGNALS.map((signal) => ({ signal, listener: forward })),
  ];
  // Before the start: a signal in between would terminate this process only.
  for (const { signal, listener } of listeners) process.on(signal, listener);
  try {
    child = spawn(file, args, { env, stdio: "inherit" });
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals];
    return code === null ? { signal } : { code };
  } catch (error) {
    const isMissing = hasCode(error, "ENOENT") && !isExistingPath(file);
    printFailure(isMissing ? notFound(file) : cannotRun(file, error));
    return { code: isMissing ? NOT_FOUND : NOT_EXECUTABLE };
  } finally {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  }
}

/**
 * Terminates this process the way the command terminated, for the parent process: a shell aborts its script when Ctrl-C
 * killed a command, but not when the command exited with 130.
 */
export function exitLike(status: ExitStatus): void {
  if ("code" in status) process.exitCode = status.code;
  else {
    // In case the signal does not terminate us: Node may handle it, or the parent may have set it to be ignored.
    process.exitCode = TERMINATED_BY_SIGNAL + constants.signals[status.signal];
    process.kill(process.pid, status.signal);
  }
}

function isOnTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}

/** A listener keeps the signal from terminating this process. */
function ignore(): void {}

/** False for a plain name, which is looked up in PATH. */
function isExistingPath(file: string): boolean {
  return file.includes("/") && existsSync(file);
}

function notFound(file: string): Failure {
  return new Failure(`${file}: command not found`, "install it, or give its path");
}

function cannotRun(file: string, error: unknown): Failure {
  if (hasCode(error, "ENOENT")) {
    const first = `look at that line with: ${formatCommand(["head", "-n", "1", file])}`;
    return new Failure(`${file} cannot be run: the program that its first line names is not there`, first);
  }
  if (hasCode(error, "EACCES")) {
    const hint = `make it executable, if it is a program: ${formatCommand(["chmod", "+x", file])}`;
    return new Failure(`${file} cannot be run: permission denied`, hint);
  }
  const look = `look at it with: ${formatCommand(["ls", "-l", file])}`;
  return new Failure(`${file} cannot be run: ${messageOf(error)}`, look);
}
