import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { basename, delimiter, join } from "node:path";
import { isatty } from "node:tty";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { Account, ConnectableTool } from "../../tools/tool.ts";
import { defineCommand } from "../command.ts";
import { chooseAccountOfRun } from "../connect/account-of-run.ts";
import { readToolHost } from "../connect/local-endpoint.ts";
import { locateDaemon } from "../connect/locate-daemon.ts";
import { isProgramOf, selectToolByCommand } from "../connect/select-tool.ts";
import { ACCOUNTS } from "../connect/paying-account.ts";
import { noteOverriddenLogins } from "../connect/overridden-logins.ts";
import { requireEnvironment, resolveEnvironment } from "../connect/environment.ts";
import { explainAbsence } from "../service/explain-absence.ts";
import { note, printFailure } from "../terminal/console.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { withLease } from "../tokens/lease.ts";

const NO_COMMAND = "the command to run is missing; write it after --";

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

/** `tollkeeper run`: runs one command in an environment that points it at tollkeeper. Writes no file. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .usage(
        "tollkeeper run [options] -- COMMAND [ARGUMENTS...]\n\nRun one command pointed at tollkeeper; write no files",
      )
      .parserConfiguration({ "populate--": true })
      // In strict mode yargs would call arguments before the `--` unknown options.
      .strict(false)
      .strictOptions()
      .option("config", { type: "string" })
      .option("tool", {
        type: "string",
        describe: "Name of the tool in the ledger; default: the command's name",
      })
      .option("model", { type: "string", describe: "Model to use, for tools that require one" })
      .option("account", {
        choices: ACCOUNTS,
        describe: "Who pays for a tool that is signed in: your key, or the plan of its login",
      })
      .check(({ _: words, "--": line }) => (words.length === 1 && Array.isArray(line)) || NO_COMMAND),
  handler: async ({ config, tool, model, account: named, "--": line }) => {
    const [file = "", ...args] = line as string[];
    const misread = explainMisread(file, args);
    if (misread !== null) throw misread;
    const selected = selectToolByCommand(file, tool);
    requireEnvironment(selected);
    const status = await daemonStatus();
    if (isMissing(file)) return reportMissing(file);
    if (status === null) throw await explainAbsence();
    const daemon = await locateDaemon(status, config);
    const commandFor = (payer: Account, own = tool) => commandWith(payer, own, line as string[]);
    const account = await chooseAccountOfRun(selected, daemon.config, readToolHost(), {
      account: named,
      canAsk: true,
      commandWith: commandFor,
    });
    const exit = await withLease(daemon.config, selected.name, async (token) => {
      const environment = await resolveEnvironment(selected, daemon, token, model, account);
      const { flags, variables, removed, warnings } = environment;
      if (flags.length > 0 && !isProgramOf(selected.tool, file))
        throw needsOwnProgram(selected.tool, flags, file);
      for (const warning of warnings) note(warning);
      // A program that is not known may start a tool that is signed in. It has run so far, so it is not refused.
      if (named === undefined) await noteOverriddenLogins(selected.tool, variables, file, commandFor);
      const kept = Object.entries(process.env).filter(([name]) => !removed.includes(name));
      return runCommand(file, [...flags, ...args], { ...Object.fromEntries(kept), ...variables });
    });
    exitLike(exit);
  },
});

/** Returns this command with an account. The arguments may hold what a message should not repeat. */
function commandWith(account: Account, tool: string | undefined, [file = "", ...args]: string[]): string {
  const named = tool === undefined ? [] : ["--tool", tool];
  const typed = formatCommand(["tollkeeper", "run", ...named, "--account", account, "--", file]);
  return args.length === 0 ? typed : `${typed} ARGUMENTS`;
}

/** Commands that change the shell itself. */
const OF_SHELL = ["cd", "export", "unset", "alias", "source", ".", "eval", "exec", "set", "ulimit", "umask"];

/** Returns what is wrong with words that only a shell would take for a command; null for any other, which may exist. */
function explainMisread(file: string, args: readonly string[]): WrongUsage | null {
  if (!isMissing(file) && !OF_SHELL.includes(file)) return null;
  const name = JSON.stringify(sanitizeText(file));
  if (/^[A-Za-z_]\w*=/.test(file))
    return new WrongUsage(
      `${name} is a variable, not a command`,
      "type the variable before tollkeeper, for example: DEBUG=1 tollkeeper run -- codex",
    );
  if (args.length === 0 && /\s/.test(file.trim()))
    return new WrongUsage(
      `${name} is not a command: the quotes make one word of it`,
      "type the command without quotes around all of it, for example: tollkeeper run -- codex exec 'say hi'",
    );
  if (OF_SHELL.includes(file))
    return new WrongUsage(
      `${name} belongs to the shell, and no program can do it for the shell`,
      "type it before tollkeeper, for example: cd my-project && tollkeeper run -- codex",
    );
  return null;
}

/** True for a name that is in no directory of the PATH, executable or not. */
function isMissing(file: string): boolean {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  return !file.includes("/") && !directories.some((directory) => existsSync(join(directory, file)));
}

function reportMissing(file: string): void {
  printFailure(new Failure(`${file}: command not found`, "install it, or give its path"));
  process.exitCode = NOT_FOUND;
}

/** Any other program would misread the flags. */
function needsOwnProgram(
  { title, name, programs }: ConnectableTool,
  flags: readonly string[],
  file: string,
): Failure {
  const own = `run its own program: tollkeeper run -- ${programs[0]}`;
  const manual = `pass these flags yourself, without tollkeeper run: ${formatCommand(flags)}`;
  return new Failure(
    `${title} is pointed at tollkeeper by flags, which ${basename(file)} does not take`,
    `${own}; or: tollkeeper connect ${name}; or ${manual}`,
  );
}

/**
 * Runs a command with this process's standard streams, and waits for it. Like a shell, prints an error and returns code
 * 127 for a command that does not exist, and 126 for one that cannot be run.
 */
async function runCommand(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ExitStatus> {
  let child: ChildProcess | null = null;
  const forward = (signal: NodeJS.Signals) => void child?.kill(signal);
  // On a terminal the command has received these signals itself, and the listener only keeps them from terminating this
  // process. Without a terminal they come from a `kill` meant for the command.
  const isOnTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  const listeners = [
    ...TERMINAL_SIGNALS.map((signal) => ({ signal, listener: isOnTerminal ? () => {} : forward })),
    ...FORWARDED_SIGNALS.map((signal) => ({ signal, listener: forward })),
  ];
  // Before the start: a signal in between would terminate this process only.
  for (const { signal, listener } of listeners) process.on(signal, listener);
  try {
    child = spawn(file, args, { env, stdio: "inherit" });
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals];
    return code === null ? { signal } : { code };
  } catch (error) {
    // Only a name without a slash is looked up in PATH.
    const isFound = file.includes("/") && existsSync(file);
    if (hasCode(error, "ENOENT") && !isFound) {
      reportMissing(file);
      return { code: NOT_FOUND };
    }
    printFailure(cannotRun(file, error));
    return { code: NOT_EXECUTABLE };
  } finally {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  }
}

/**
 * Terminates this process the way the command terminated, for the parent process: a shell aborts its script when Ctrl-C
 * killed a command, but not when the command exited with 130.
 */
function exitLike(status: ExitStatus): void {
  if ("code" in status) process.exitCode = status.code;
  else {
    // In case the signal does not terminate us: Node may handle it, or the parent may have set it to be ignored.
    process.exitCode = TERMINATED_BY_SIGNAL + constants.signals[status.signal];
    process.kill(process.pid, status.signal);
  }
}

function cannotRun(file: string, error: unknown): Failure {
  if (hasCode(error, "ENOENT")) {
    const first = `see that line with: ${formatCommand(["head", "-n", "1", file])}`;
    return new Failure(`${file} cannot be run: the program that its first line names does not exist`, first);
  }
  if (hasCode(error, "EACCES")) {
    const hint = `if it is a program, make it executable with: ${formatCommand(["chmod", "+x", file])}`;
    return new Failure(`${file} cannot be run: permission denied`, hint);
  }
  const look = `inspect it with: ${formatCommand(["ls", "-l", file])}`;
  return new Failure(`${file} cannot be run: ${messageOf(error)}`, look);
}
