#!/usr/bin/env node
import "./cli/no-inspector.ts";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { checkCommand } from "./cli/check.ts";
import { configCommand } from "./cli/config.ts";
import { EXIT, note, printFailure } from "./cli/console.ts";
import { keyCommand } from "./cli/key.ts";
import { programVersion } from "./cli/program.ts";
import { sandboxCommand } from "./cli/sandbox.ts";
import { serveCommand } from "./cli/serve.ts";
import { statusCommand } from "./cli/status.ts";
import { usageCommand } from "./cli/usage.ts";

try {
  await yargs(hideBin(process.argv))
    .scriptName("tollkeeper")
    .option("config", { type: "string", global: true, describe: "Configuration file to use" })
    .command(serveCommand)
    .command(keyCommand)
    .command(usageCommand)
    .command(statusCommand)
    .command(checkCommand)
    .command(configCommand)
    .command(sandboxCommand)
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
} catch (error) {
  printFailure(error);
  process.exitCode = EXIT.failed;
}
