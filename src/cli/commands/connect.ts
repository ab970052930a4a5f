import { isInstalled } from "../../connect/installed.ts";
import type { Scope } from "../../tools/recipe.ts";
import { RECIPES } from "../../tools/all.ts";
import { changeEach, type ToolChange } from "../connect/change-each.ts";
import { SCOPES } from "../connect/change-of-files.ts";
import type { Command } from "../command.ts";
import { listTools, renderTools } from "../connect/list-tools.ts";
import { printByHand } from "../connect/print-by-hand.ts";
import { connectTool, type ConnectOptions } from "../connect/connect-tool.ts";
import { EXIT, note, print } from "../terminal/console.ts";
import { daemonStatus } from "../../daemon/client.ts";
import { toolHostInfo } from "../connect/destination.ts";
import { requireRecipe } from "../connect/find-recipe.ts";
import { hardenProcess } from "../../daemon/harden.ts";
import { loadConfig } from "../keys/target.ts";
import { knownPort, localAddress, type LocalAddress } from "../connect/local-address.ts";

interface ConnectArguments {
  config?: string | undefined;
  tool?: string | undefined;
  scope: Scope;
  model?: string | undefined;
  "dry-run": boolean;
  yes: boolean;
  print?: boolean | undefined;
  list?: boolean | undefined;
  all?: boolean | undefined;
  json?: boolean | undefined;
}

const NO_TOOL = "name a tool, or say --list or --all";

/** `tollkeeper connect`: leads tools here, by what stands in their own settings. */
export const command: Command<ConnectArguments> = {
  builder: (yargs) =>
    yargs
      .positional("tool", { type: "string", describe: "The tool" })
      .option("config", { type: "string" })
      .option("scope", { choices: SCOPES, default: "user" as const, describe: "Everywhere, or here alone" })
      .option("model", { type: "string", describe: "The model to use, where it must be told one" })
      .option("dry-run", { type: "boolean", default: false, describe: "Only show what would change" })
      .option("yes", { alias: "y", type: "boolean", default: false, describe: "Do it without asking" })
      .option("print", { type: "boolean", describe: "Only print what to write by hand, for any tool at all" })
      .option("list", { type: "boolean", describe: "Show the tools that are known, and which are connected" })
      .option("json", { type: "boolean", describe: "Print the list as JSON" })
      .option("all", { type: "boolean", describe: "Connect every tool that is installed" })
      .conflicts({ list: ["tool", "all", "print"], all: ["tool", "print", "model"] })
      .check(({ json, list }) => json !== true || list === true || "--json goes with --list")
      .check(({ tool, list, all }) => tool !== undefined || list === true || all === true || NO_TOOL),
  handler: async ({ tool = "", list, print: byHand, all, json, ...argv }) => {
    if (list === true) return showTools(argv.config, json === true);
    const address = await localAddress(await daemonStatus(), argv.config);
    const { scope, model } = argv;
    if (byHand === true) return printByHand(tool, address, { scope, model });
    for (const warning of hardenProcess()) note(`warning: ${warning}`);
    const options = { scope, model, isDry: argv.dryRun, isAgreed: argv.yes };
    if (all === true) return changeEach(everyInstalled(address, options));
    const decision = await connectTool(requireRecipe(tool), address, options);
    if (decision === "declined") process.exitCode = EXIT.failed;
  },
};

async function showTools(configFile: string | undefined, json: boolean): Promise<void> {
  const status = await daemonStatus();
  const port = knownPort(status, await loadConfig(configFile ?? status?.config.path));
  const tools = await listTools();
  print(json ? JSON.stringify(tools, null, 2) : renderTools(tools, port));
}

function everyInstalled(address: LocalAddress, options: ConnectOptions): ToolChange[] {
  const on = toolHostInfo();
  return RECIPES.filter((recipe) => recipe.scopes.includes(options.scope) && isInstalled(recipe, on)).map(
    (recipe) => ({ title: recipe.title, make: () => connectTool(recipe, address, options) }),
  );
}
