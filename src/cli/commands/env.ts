import { findConflictingVariables } from "../../tools/recipe/conflicting-variables.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { defineCommand } from "../command.ts";
import {
  detectShell,
  formatEnvironment,
  requireEnvironment,
  resolveEnvironment,
  SHELLS,
} from "../connect/environment.ts";
import { locateDaemon } from "../connect/locate-daemon.ts";
import { selectToolByName } from "../connect/select-tool.ts";
import { note, print } from "../terminal/console.ts";

/** `tollkeeper env`: prints shell commands, for `eval`, that point the programs the shell starts at tollkeeper. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .positional("name", { type: "string", demandOption: true, describe: "The tool, known to us or not" })
      .option("config", { type: "string" })
      .option("shell", { choices: SHELLS, describe: "Whose language; by default that of $SHELL" })
      .option("model", { type: "string", describe: "The model to use, where it must be told one" }),
  handler: async ({ config, name, shell = detectShell(process.env), model }) => {
    const selected = selectToolByName(name);
    requireEnvironment(selected);
    const daemon = await locateDaemon(await daemonStatus(), config);
    if (daemon.config.access.mode === "token") throw tokenRequired(selected.name);
    const { variables, flags } = await resolveEnvironment(selected, daemon, null, model);
    const conflicts = findConflictingVariables(process.env, variables);
    for (const line of formatEnvironment(shell, variables, conflicts)) print(line);
    if (flags.length > 0) note(`note: ${selected.tool.title} needs flags, too: ${formatCommand(flags)}`);
  },
});

/** Every evaluation would have to create another token. */
function tokenRequired(tool: string): Failure {
  return new Failure(
    'tools must show a local token here ("access": "token"), and none is printed',
    `run it with: tollkeeper run --tool ${tool} -- COMMAND; or: tollkeeper connect ${tool}; or make one: tollkeeper token add ${tool}`,
  );
}
