import type { AddCommand, ArgumentsCamelCase, Argv } from "./command-line.ts";

/** What a command's module exports as `command`. Names and descriptions are in main.ts, which lists all commands. */
export interface Command<Arguments> {
  builder(yargs: Argv<object>): Argv<Arguments>;
  handler(argv: ArgumentsCamelCase<Arguments>): void | Promise<void>;
}

/** Types a command's handler by what its builder returns. */
export function defineCommand<Arguments>(definition: Command<Arguments>): Command<Arguments> {
  return definition;
}

/** Arguments of commands that report on a configuration. */
export interface ReportArguments {
  config?: string | undefined;
  json: boolean;
}

/** Adds the options for {@link ReportArguments}. */
export function reportOptions(yargs: Argv<object>): Argv<ReportArguments> {
  return yargs
    .option("config", { type: "string" })
    .option("json", { type: "boolean", default: false, describe: "Print JSON" });
}

/** Defines a command whose module is loaded when it is called, because the modules of `check` alone take 25 ms to load. */
export function command<Arguments>(
  name: string,
  describe: string,
  load: () => Promise<{ command: Command<Arguments> }>,
): AddCommand {
  return (program) =>
    program.command<Arguments>({
      command: name,
      describe,
      builder: async (yargs: Argv<object>) => (await load()).command.builder(yargs),
      handler: async (argv) => (await load()).command.handler(argv),
    });
}
