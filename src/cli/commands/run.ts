import { basename } from "node:path";
import { findConflictingVariables } from "../../connect/conflicting-variables.ts";
import type { Environment, Recipe } from "../../tools/recipe.ts";
import { Failure } from "../../core/failure.ts";
import { writeCommand } from "../../service/write-command.ts";
import type { Command } from "../command.ts";
import { runningDaemon } from "../../daemon/client.ts";
import { targetOfCommand, isProgramOf } from "../connect/find-recipe.ts";
import { localAddress } from "../connect/local-address.ts";
import { endLike, runCommand } from "./run/run-command.ts";
import { environmentFor, requireEnvironment } from "../connect/tool-environment.ts";
import { withLease } from "../tokens/lease.ts";

interface RunArguments {
  config?: string | undefined;
  tool?: string | undefined;
  model?: string | undefined;
  /** The command and its arguments, as they are. */
  "--"?: string[];
}

const NO_COMMAND = "say what to run, after a -- of its own: tollkeeper run -- claude";

/** `tollkeeper run`: runs one command in an environment that leads it here. Nothing is written anywhere. */
export const command: Command<RunArguments> = {
  builder: (yargs) =>
    yargs
      .usage("tollkeeper run [options] -- COMMAND [ARGUMENTS...]")
      .parserConfiguration({ "populate--": true })
      // yargs's own words for what stands before the `--` would be about options.
      .strict(false)
      .strictOptions()
      .option("config", { type: "string" })
      .option("tool", { type: "string", describe: "Its name in the ledger; by default the command's own" })
      .option("model", { type: "string", describe: "The model to use, where it must be told one" })
      .check(({ _: words, "--": line }) => (words.length === 1 && Array.isArray(line)) || NO_COMMAND),
  handler: async ({ config, tool, model, "--": [file = "", ...args] = [] }) => {
    const guest = targetOfCommand(file, tool);
    requireEnvironment(guest);
    const address = await localAddress(await runningDaemon(), config);
    const ending = await withLease(address.config, guest.tool, async (token) => {
      const { flags, variables } = await environmentFor(guest, address, token, model);
      if (flags.length > 0 && !isProgramOf(guest.recipe, file)) throw notForOthers(guest.recipe, flags, file);
      return runCommand(file, [...flags, ...args], surround(process.env, variables));
    });
    endLike(ending);
  },
};

/** Another program would take the flags for its own. */
function notForOthers({ title, tool, signs }: Recipe, flags: readonly string[], file: string): Failure {
  const own = `run its own program: tollkeeper run -- ${signs.programs[0]}`;
  const byHand = `give it these flags by yourself, without tollkeeper run: ${writeCommand(flags)}`;
  return new Failure(
    `${title} is led here by flags, and ${basename(file)} is another program`,
    `${own}; or: tollkeeper connect ${tool}; or ${byHand}`,
  );
}

/** Ours win, and what would win over ours is not there. */
function surround(env: NodeJS.ProcessEnv, variables: Environment["variables"]): NodeJS.ProcessEnv {
  const rivals = findConflictingVariables(env, variables);
  const rest = Object.entries(env).filter(([name]) => !rivals.includes(name));
  return { ...Object.fromEntries(rest), ...variables };
}
