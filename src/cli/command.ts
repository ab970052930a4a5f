import type { ArgumentsCamelCase, Argv } from "yargs";

/** What a command's module exports as `command`. Names and descriptions are in main.ts, which lists all commands. */
export interface Command<Arguments> {
  builder(yargs: Argv<object>): Argv<Arguments>;
  handler(argv: ArgumentsCamelCase<Arguments>): void | Promise<void>;
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

/** Adds one command to a yargs instance. */
export type AddCommand = (yargs: Argv<object>) => void;

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
