import { programName } from "../../adapters/program.ts";
import { writeOwnCommands } from "../../core/text/own-commands.ts";
import { optionInUse } from "../config-in-use.ts";

/**
 * Messages name commands as `tollkeeper key set`. Returns them as a person has to type them: with the program's name where it is not
 * installed, and with the configuration file where this command uses another than the usual one.
 */
export function withProgramName(text: string): string {
  return text.includes("tollkeeper ") ? writeOwnCommands(text, programName(), optionInUse()) : text;
}
