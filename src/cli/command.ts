import type { ArgumentsCamelCase, Argv } from "yargs";

/** What a command's module exports as `command`. Its name and what it is for stand in main.ts, which lists all of them. */
export interface Command<Arguments> {
  builder(yargs: Argv<object>): Argv<Arguments>;
  handler(argv: ArgumentsCamelCase<Arguments>): void | Promise<void>;
}

/** Adds one command to those that yargs knows. */
export type AddCommand = (yargs: Argv<object>) => void;

/** A command whose module is loaded when it is called: `check` alone has 60 files behind it, which take 25 ms. */
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
