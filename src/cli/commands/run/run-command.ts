import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { Failure } from "../../../core/failure.ts";
import { hasCode, messageOf } from "../../../core/thrown.ts";
import { writeCommand } from "../../../service/write-command.ts";
import { printFailure } from "../../terminal/console.ts";

/** A terminal sends these to all that runs in its foreground, the command too; whether it ends of them is its business. */
const OF_THE_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];

/** These reach us alone, from a service manager or `kill`, and mean the command. */
const PASSED_ON: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"];

/** What shells exit with (POSIX, Shell Command Language, section 2.8.2). */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const ENDED_BY_SIGNAL = 128;

/** How a command ended: by itself, or of a signal. */
export type Ending = { code: number } | { signal: NodeJS.Signals };

/**
 * Runs a command in our place: with our standard input and outputs, to its end.
 * @returns how it ended; as shells do with 127 where there is no such command, and 126 where it cannot be run, which is said
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ending> {
  let child: ChildProcess | null = null;
  const passOn = (signal: NodeJS.Signals) => void child?.kill(signal);
  // By a terminal the command has got them already. Without one they come from a `kill` that means it.
  const listeners = [
    ...OF_THE_TERMINAL.map((signal) => ({ signal, listener: isOnTerminal() ? outlive : passOn })),
    ...PASSED_ON.map((signal) => ({ signal, listener: passOn })),
  ];
  // Before it starts: a signal in between would end us and not it.
  for (const { signal, listener } of listeners) process.on(signal, listener);
  try {
    child = spawn(file, args, { env, stdio: "inherit" });
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals];
    return code === null ? { signal } : { code };
  } catch (error) {
    const isMissing = hasCode(error, "ENOENT") && !isPathOfFile(file);
    printFailure(isMissing ? notFound(file) : cannotRun(file, error));
    return { code: isMissing ? NOT_FOUND : NOT_EXECUTABLE };
  } finally {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  }
}

/**
 * Ends this process as a command ended, so that who waits for us can tell: a shell stops its script when Ctrl-C ended
 * what it ran, and not when that exited with 130.
 */
export function endLike(ending: Ending): void {
  if ("code" in ending) process.exitCode = ending.code;
  else {
    // For a signal that does not end us, because Node or who started us lets it pass.
    process.exitCode = ENDED_BY_SIGNAL + constants.signals[ending.signal];
    process.kill(process.pid, ending.signal);
  }
}

function isOnTerminal(): boolean {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}

/** With a listener of ours a signal does not end us. */
function outlive(): void {}

/** Otherwise it is a name, which is looked for in PATH. */
function isPathOfFile(file: string): boolean {
  return file.includes("/") && existsSync(file);
}

function notFound(file: string): Failure {
  return new Failure(`${file}: command not found`, "install it, or give its path");
}

function cannotRun(file: string, error: unknown): Failure {
  if (hasCode(error, "ENOENT")) {
    const first = `look at that line with: ${writeCommand(["head", "-n", "1", file])}`;
    return new Failure(`${file} cannot be run: the program that its first line names is not there`, first);
  }
  if (hasCode(error, "EACCES")) {
    const hint = `make it executable, if it is a program: ${writeCommand(["chmod", "+x", file])}`;
    return new Failure(`${file} cannot be run: permission denied`, hint);
  }
  const look = `look at it with: ${writeCommand(["ls", "-l", file])}`;
  return new Failure(`${file} cannot be run: ${messageOf(error)}`, look);
}
