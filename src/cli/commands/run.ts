import { basename } from "node:path";
import { findConflictingVariables } from "../../connect/conflicting-variables.ts";
import type { Environment, ConnectableTool } from "../../tools/tool.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { Command } from "../command.ts";
import { runningDaemon } from "../../daemon/client.ts";
import { selectToolByCommand, isProgramOf } from "../connect/select-tool.ts";
import { locateDaemon } from "../connect/locate-daemon.ts";
import { exitLike, runCommand } from "./run/run-command.ts";
import { resolveEnvironment, requireEnvironment } from "../connect/tool-environment.ts";
import { withLease } from "../tokens/lease.ts";

interface RunArguments {
  config?: string | undefined;
  tool?: string | undefined;
  model?: string | undefined;
  /** The command and its arguments, unparsed. */
  "--"?: string[];
}

const NO_COMMAND = "say what to run, after a -- of its own: tollkeeper run -- claude";

/** `tollkeeper run`: runs one command in an environment that points it at tollkeeper. Writes no file. */
export const command: Command<RunArguments> = {
  builder: (yargs) =>
    yargs
      .usage("tollkeeper run [options] -- COMMAND [ARGUMENTS...]")
      .parserConfiguration({ "populate--": true })
      // In strict mode yargs would call arguments before the `--` unknown options.
      .strict(false)
      .strictOptions()
      .option("config", { type: "string" })
      .option("tool", { type: "string", describe: "Its name in the ledger; by default the command's own" })
      .option("model", { type: "string", describe: "The model to use, where it must be told one" })
      .check(({ _: words, "--": line }) => (words.length === 1 && Array.isArray(line)) || NO_COMMAND),
  handler: async ({ config, tool, model, "--": [file = "", ...args] = [] }) => {
    const selected = selectToolByCommand(file, tool);
    requireEnvironment(selected);
    const daemon = await locateDaemon(await runningDaemon(), config);
    const status = await withLease(daemon.config, selected.name, async (token) => {
      const { flags, variables } = await resolveEnvironment(selected, daemon, token, model);
      if (flags.length > 0 && !isProgramOf(selected.tool, file))
        throw needsOwnProgram(selected.tool, flags, file);
      return runCommand(file, [...flags, ...args], mergeEnvironment(process.env, variables));
    });
    exitLike(status);
  },
};

/** Another program would read the flags as its own. */
function needsOwnProgram(
  { title, name, programs }: ConnectableTool,
  flags: readonly string[],
  file: string,
): Failure {
  const own = `run its own program: tollkeeper run -- ${programs[0]}`;
  const manual = `give it these flags by yourself, without tollkeeper run: ${formatCommand(flags)}`;
  return new Failure(
    `${title} is led here by flags, and ${basename(file)} is another program`,
    `${own}; or: tollkeeper connect ${name}; or ${manual}`,
  );
}

/** Returns `env` with our variables, and without those that would override them. */
function mergeEnvironment(env: NodeJS.ProcessEnv, variables: Environment["variables"]): NodeJS.ProcessEnv {
  const conflicts = findConflictingVariables(env, variables);
  const rest = Object.entries(env).filter(([name]) => !conflicts.includes(name));
  return { ...Object.fromEntries(rest), ...variables };
}
