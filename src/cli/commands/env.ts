import type { Shell } from "../../connect/formats/shell-lines.ts";
import { findConflictingVariables } from "../../connect/conflicting-variables.ts";
import { Failure } from "../../core/failure.ts";
import { writeCommand } from "../../service/write-command.ts";
import type { Command } from "../command.ts";
import { note, print } from "../terminal/console.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { targetOfName } from "../connect/find-recipe.ts";
import { localAddress } from "../connect/local-address.ts";
import { SHELLS, shellOf, writeEnvironment } from "./env/shell-environment.ts";
import { environmentFor, requireEnvironment } from "../connect/tool-environment.ts";

interface EnvArguments {
  config?: string | undefined;
  name: string;
  shell?: Shell | undefined;
  model?: string | undefined;
}

/** `tollkeeper env`: the lines that lead what a shell starts here, for its `eval`. */
export const command: Command<EnvArguments> = {
  builder: (yargs) =>
    yargs
      .positional("name", { type: "string", demandOption: true, describe: "The tool, known to us or not" })
      .option("config", { type: "string" })
      .option("shell", { choices: SHELLS, describe: "Whose language; by default that of $SHELL" })
      .option("model", { type: "string", describe: "The model to use, where it must be told one" }),
  handler: async ({ config, name, shell = shellOf(process.env), model }) => {
    const guest = targetOfName(name);
    requireEnvironment(guest);
    const address = await localAddress(await daemonStatus(), config);
    if (address.config.access.mode === "token") throw tokenNeeded(guest.tool);
    const { variables, flags } = await environmentFor(guest, address, null, model);
    for (const line of writeEnvironment(shell, variables, findConflictingVariables(process.env, variables))) print(line);
    if (flags.length > 0) note(`note: ${guest.recipe.title} needs flags, too: ${writeCommand(flags)}`);
  },
};

/** Each evaluation would have to make another one, and they would pile up. */
function tokenNeeded(tool: string): Failure {
  return new Failure(
    'tools must show a local token here ("access": "token"), and none is printed',
    `run it with: tollkeeper run --tool ${tool} -- COMMAND; or: tollkeeper connect ${tool}; or make one: tollkeeper token add ${tool}`,
  );
}
