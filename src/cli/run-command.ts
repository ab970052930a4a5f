import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { hasCode, messageOf } from "../core/thrown.ts";
import { note } from "./console.ts";

/** A terminal sends these to all that runs in its foreground, the command too; whether it ends of them is its business. */
const OF_THE_TERMINAL = ["SIGINT", "SIGQUIT"] as const;

/** These reach us alone, from a service manager or `kill`, and mean the command. */
const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

/** What shells exit with (POSIX, Shell Command Language, section 2.8.2). */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const ENDED_BY_SIGNAL = 128;

/**
 * Runs a command in our place: with our standard input and outputs, to its end.
 * @returns what a shell would exit with: its exit code, 128 and the number of the signal that ended it, 127 where there
 * is no such command, 126 where it cannot be run; the last two are said
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  let child: ChildProcess | null = null;
  const passOn = (signal: NodeJS.Signals) => void child?.kill(signal);
  // Before it starts: a signal in between would end us and not it.
  for (const signal of OF_THE_TERMINAL) process.on(signal, outlive);
  for (const signal of PASSED_ON) process.on(signal, passOn);
  try {
    child = spawn(file, args, { env, stdio: "inherit" });
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals];
    return code ?? ENDED_BY_SIGNAL + constants.signals[signal];
  } catch (error) {
    if (hasCode(error, "ENOENT")) {
      note(`error: ${file}: command not found`);
      return NOT_FOUND;
    }
    note(
      `error: ${file} cannot be run: ${hasCode(error, "EACCES") ? "permission denied" : messageOf(error)}`,
    );
    return NOT_EXECUTABLE;
  } finally {
    for (const signal of OF_THE_TERMINAL) process.off(signal, outlive);
    for (const signal of PASSED_ON) process.off(signal, passOn);
  }
}

/** With a listener of ours a signal does not end us. */
function outlive(): void {}
