import { findForeignShell } from "../../tools/recipe/variables.ts";
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
import type { Account } from "../../tools/tool.ts";
import { chooseAccountOfRun } from "../connect/account-of-run.ts";
import { readToolHost } from "../connect/local-endpoint.ts";
import { locateDaemon } from "../connect/locate-daemon.ts";
import { noteSimilarModels } from "../known-models.ts";
import { ACCOUNTS } from "../connect/paying-account.ts";
import { noteOverriddenLogins } from "../connect/overridden-logins.ts";
import { selectToolByName } from "../connect/select-tool.ts";
import { note, print } from "../terminal/console.ts";

/** `tollkeeper env`: prints shell commands, for `eval`, that point the programs the shell starts at tollkeeper. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .positional("name", {
        type: "string",
        demandOption: true,
        describe: "Name of the tool; any name works",
      })
      .option("config", { type: "string" })
      .option("shell", { choices: SHELLS, describe: "Shell to print for; default: that of $SHELL" })
      .option("model", { type: "string", describe: "Model to use, for tools that require one" })
      .option("account", {
        choices: ACCOUNTS,
        describe: "Who pays for a tool that is signed in: your key, or the plan of its login",
      }),
  handler: async ({ config, name, shell: named, model, account: payer }) => {
    const selected = selectToolByName(name);
    const shell = named ?? detectShell(process.env);
    if (shell === null) throw foreignShell(selected.name);
    requireEnvironment(selected);
    const daemon = await locateDaemon(await daemonStatus(), config);
    if (daemon.config.access.mode === "token") throw tokenRequired(selected.name);
    const commandFor = (one: Account, own = name) =>
      formatCommand(["tollkeeper", "env", own, "--account", one]);
    const account = await chooseAccountOfRun(selected, daemon.config, readToolHost(), {
      account: payer,
      // A shell that starts, and one that evaluates the output, would wait for the answer.
      canAsk: false,
      commandWith: commandFor,
    });
    const environment = await resolveEnvironment(selected, daemon, null, model, account);
    const { variables, flags, removed, warnings } = environment;
    if (model !== undefined) await noteSimilarModels([model], config);
    for (const line of formatEnvironment(shell, variables, removed)) print(line);
    for (const warning of warnings) note(warning);
    if (payer === undefined) await noteOverriddenLogins(selected.tool, variables, "this shell", commandFor);
    if (flags.length > 0)
      note(`note: ${selected.tool.title} also needs these flags: ${formatCommand(flags)}`);
  },
});

function foreignShell(tool: string): Failure {
  const shell = findForeignShell(process.env);
  return new Failure(
    `your shell, ${shell}, cannot evaluate what env prints`,
    `run it with: tollkeeper run --tool ${tool} -- COMMAND; or for another shell: tollkeeper env ${tool} --shell sh`,
  );
}

/** Every evaluation would have to create another token. */
function tokenRequired(tool: string): Failure {
  return new Failure(
    'every tool needs a local token ("access": "token"), and env prints none',
    `run it with: tollkeeper run --tool ${tool} -- COMMAND; or: tollkeeper connect ${tool}; or register one: tollkeeper token add ${tool}`,
  );
}
