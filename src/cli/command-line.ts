import yargs, { type Argv } from "yargs";
import { programVersion } from "../adapters/program.ts";
import { Failure, hasCode, messageOf } from "../core/failure.ts";
import { EXIT, note, printFailure } from "./terminal/console.ts";

export type { ArgumentsCamelCase, Argv } from "yargs";

/** Adds one command to a yargs instance. */
export type AddCommand = (program: Argv<object>) => void;

/**
 * Runs the command that the arguments name. Wrong usage ends the process with an exit code of its own.
 * Rejects with what the command throws.
 */
export async function runCommandLine(
  args: readonly string[],
  commands: readonly AddCommand[],
): Promise<void> {
  tolerateOutputErrors();
  const program = yargs(args);
  for (const add of commands) add(program);
  await program
    .scriptName("tollkeeper")
    .option("config", { type: "string", global: true, describe: "Configuration file to use" })
    .demandCommand(1, "a command is needed")
    .strict()
    .version(programVersion())
    .alias({ h: "help", v: "version" })
    .wrap(100)
    .fail((message, error) => {
      // `error` is what a command threw; for wrong usage there is only a message.
      if (error instanceof Error) throw error;
      note(`error: ${message.charAt(0).toLowerCase()}${message.slice(1)}`);
      note("hint: see tollkeeper --help");
      process.exit(EXIT.usage);
    })
    .parseAsync();
}

/**
 * Lets a command complete when its output cannot be written, because a change made by half would be worse than lost
 * output. A closed pipe (`| head`) is not an error; any other output error makes the program exit with 1.
 */
function tolerateOutputErrors(): void {
  process.stderr.on("error", setExitCode);
  process.stdout.on("error", setExitCode);
  process.stdout.once("error", (error) => {
    if (isReaderGone(error)) return;
    const message = `standard output cannot be written: ${messageOf(error)}`;
    const hint = "the command went on to its end; make room, or send what it says elsewhere";
    printFailure(new Failure(message, hint));
  });
}

function setExitCode(error: unknown): void {
  if (!isReaderGone(error)) process.exitCode = EXIT.failed;
}

/** True when a pipe's reader or the terminal has closed (write(2)). */
function isReaderGone(error: unknown): boolean {
  return hasCode(error, "EPIPE") || hasCode(error, "EIO");
}
