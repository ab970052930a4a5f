import type { ArgumentsCamelCase, Argv, ProgramCommand } from "./command-line.ts";

/** What a command's module exports as `command`. Names and descriptions are in main.ts, which lists all commands. */
export interface Command<Arguments> {
  builder(yargs: Argv<object>): Argv<Arguments>;
  handler(argv: ArgumentsCamelCase<Arguments>): void | Promise<void>;
  /** The arguments for the command's name alone, as yargs would parse it. Saves the 15 to 20 ms of loading yargs. */
  alone?: Arguments;
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

/** Describes a command. `usage` is its name with its positional arguments, as yargs spells them. */
export function command<Arguments>(
  usage: string,
  describe: string,
  load: () => Promise<{ command: Command<Arguments> }>,
): ProgramCommand {
  const name = usage.replace(/ .*/, "");
  return {
    name,
    usage,
    describe,
    async runAlone() {
      const { command: loaded } = await load();
      if (loaded.alone === undefined) return false;
      await loaded.handler({ ...loaded.alone, _: [name], $0: "tollkeeper" } as ArgumentsCamelCase<Arguments>);
      return true;
    },
    addTo(program) {
      program.command<Arguments>({
        command: usage,
        describe,
        builder: async (yargs: Argv<object>) => (await load()).command.builder(yargs),
        handler: async (argv) => (await load()).command.handler(argv),
      });
    },
  };
}
