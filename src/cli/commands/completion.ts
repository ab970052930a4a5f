import { defineCommand } from "../command.ts";
import { SCRIPTS, SHELLS } from "../completion/scripts.ts";
import { printStyled } from "../terminal/console.ts";

/** `tollkeeper completion`: prints the script that completes its command lines in a shell. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs.positional("shell", { choices: SHELLS, demandOption: true, describe: "Your shell" }),
  handler: ({ shell }) => printStyled(SCRIPTS[shell]),
});
