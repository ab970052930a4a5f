import { hardenProcess } from "../../daemon/harden.ts";
import { defineCommand } from "../command.ts";
import { note } from "../terminal/console.ts";
import { uninstall } from "../uninstall/uninstall.ts";

/** `tollkeeper uninstall`: removes everything of tollkeeper's. Keeps the usage records unless told to remove them. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("ledger", { type: "boolean", default: false, describe: "Also remove the usage records" })
      .option("yes", {
        alias: "y",
        type: "boolean",
        default: false,
        describe: "Remove everything without asking",
      }),
  handler: async (options) => {
    for (const warning of hardenProcess()) note(`warning: ${warning}`);
    await uninstall(options);
  },
});
