import { hardenProcess } from "../../daemon/harden.ts";
import { defineCommand } from "../command.ts";
import { setUp } from "../setup/setup.ts";
import { note } from "../terminal/console.ts";

/** `tollkeeper setup`: from nothing to a connected tool. Never prints a key. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("base-url", { type: "string", describe: "Base URL of the service that your tools use" })
      .option("key-stdin", {
        type: "boolean",
        default: false,
        describe: "Read the API key from standard input",
      })
      .option("service", {
        type: "boolean",
        describe: "Install the background service, or update it",
      })
      .option("connect", {
        type: "string",
        array: true,
        describe: 'Connect these tools; "all" connects every installed tool',
      })
      .option("yes", {
        alias: "y",
        type: "boolean",
        default: false,
        describe: "Ask nothing; do only what the options say",
      })
      .option("replace", { type: "boolean", default: false, describe: "Replace a stored key that works" })
      .option("force", {
        type: "boolean",
        default: false,
        describe: "Store a key that cannot be tested, or does not look like one",
      }),
  handler: async (options) => {
    for (const warning of hardenProcess()) note(`warning: ${warning}`);
    await setUp(options);
  },
});
