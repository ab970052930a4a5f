import yargs from "yargs";
import type { AddCommand } from "./command.ts";
import { EXIT, note } from "./terminal/console.ts";
import { tolerateOutputErrors } from "./terminal/output-errors.ts";
import { programVersion } from "../adapters/program.ts";

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
