import yargs from "yargs";
import type { AddCommand } from "./command.ts";
import { EXIT, note } from "./terminal/console.ts";
import { outliveOutputs } from "./terminal/output-faults.ts";
import { programVersion } from "../adapters/program.ts";

/**
 * Runs the command that the words name, with what they say to it. Wrong usage ends the process with its own exit code.
 * Rejects with what the command throws.
 */
export async function runCommandLine(
  words: readonly string[],
  commands: readonly AddCommand[],
): Promise<void> {
  outliveOutputs();
  const program = yargs(words);
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
      // yargs has words for wrong usage only; what a command throws is its own.
      if (error instanceof Error) throw error;
      note(`error: ${message.charAt(0).toLowerCase()}${message.slice(1)}`);
      note("hint: see tollkeeper --help");
      process.exit(EXIT.usage);
    })
    .parseAsync();
}
