import { daemonStatus } from "../../daemon/running-daemon.ts";
import { hardenProcess } from "../../daemon/harden.ts";
import { defineCommand } from "../command.ts";
import { connectTool, type ConnectOptions } from "../connect/connect-tool.ts";
import { findInstalledTools } from "../connect/installed-tools.ts";
import { passingUpstreams } from "../../core/policy/tool-access.ts";
import { listTools, renderTools } from "../connect/list-tools.ts";
import { readToolHost } from "../connect/local-endpoint.ts";
import { knownPort, locateDaemon, type LocalDaemon } from "../connect/locate-daemon.ts";
import { DEVCONTAINER, printDevcontainer } from "../connect/print-devcontainer.ts";
import { ACCOUNTS, readAccount } from "../connect/paying-account.ts";
import { printInstructions } from "../connect/print-instructions.ts";
import { requireTool } from "../connect/select-tool.ts";
import { changeEach, SCOPES, type ToolChange } from "../connect/tool-changes.ts";
import { noteSimilarModels } from "../known-models.ts";
import { loadConfig } from "../load-config.ts";
import { explainAbsence } from "../service/explain-absence.ts";
import type { ConnectableTool, Scope } from "../../tools/tool.ts";
import { EXIT, note, printJson, printStyled } from "../terminal/console.ts";

const NO_TOOL = '"connect" needs the name of a tool, --list or --all';

/** `tollkeeper connect`: points tools at tollkeeper in their own settings. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .positional("tool", {
        type: "string",
        describe: "Name of the tool; devcontainer prints what goes into devcontainer.json",
      })
      .option("config", { type: "string" })
      .option("scope", {
        choices: SCOPES,
        default: "user" as const,
        describe: "For the user, or for this project only",
      })
      .option("model", { type: "string", describe: "Model to use, for tools that require one" })
      .option("statusline", {
        type: "boolean",
        describe: "Show costs in Claude Code's status line; --no-statusline takes it off again",
      })
      .option("mcp", {
        type: "boolean",
        describe: "Let the agent ask what it costs, with an MCP server; --no-mcp takes it off again",
      })
      .option("first-party", {
        type: "boolean",
        describe:
          "Have Claude Code take tollkeeper for Anthropic's own service, if all its requests go there",
      })
      .option("account", {
        choices: ACCOUNTS,
        describe: "Who pays for a tool that is signed in: your key, or the plan of its login",
      })
      .option("dry-run", { type: "boolean", default: false, describe: "Only show what would change" })
      .option("yes", { alias: "y", type: "boolean", default: false, describe: "Connect without asking" })
      .option("print", {
        type: "boolean",
        describe: "Print manual instructions, for any tool; change nothing",
      })
      .option("list", { type: "boolean", describe: "List the supported tools and which are connected" })
      .option("json", { type: "boolean", describe: "Print the list as JSON" })
      .option("all", { type: "boolean", describe: "Connect every installed tool" })
      .conflicts({
        list: ["tool", "all", "print"],
        all: ["tool", "print", "model"],
        statusline: ["all", "list", "print"],
        mcp: ["all", "list", "print"],
        "first-party": ["all", "list", "print"],
        account: ["list"],
      })
      .check(({ json, list }) => json !== true || list === true || "--json works only with --list")
      .check(({ tool, list, all }) => tool !== undefined || list === true || all === true || NO_TOOL),
  handler: async ({ tool = "", list, print: isPrintOnly, all, json, ...argv }) => {
    if (list === true) return showTools(argv.config, json === true);
    const daemon = await locateDaemon(await daemonStatus(), argv.config);
    if (tool === DEVCONTAINER) return printDevcontainer(daemon);
    const { scope, model, account, statusline: statusLine } = argv;
    if (isPrintOnly === true) return printInstructions(tool, daemon, { scope, model, account });
    for (const warning of hardenProcess()) note(`warning: ${warning}`);
    const wishes = { model, statusLine, mcp: argv.mcp, isFirstParty: argv.firstParty };
    const options = { scope, account, ...wishes, isDryRun: argv.dryRun, isConfirmed: argv.yes };
    if (all === true) {
      const tools = findInstalledTools(scope);
      const outcomes = await changeEach(connectEach(tools, daemon, options));
      const done = tools.filter((_, index) => outcomes[index]?.[1] === "done");
      if (done.length > 0) await noteUnreachable(daemon, done, scope);
      return;
    }
    const selected = requireTool(tool);
    if (selected.scopes.length === 0) return printInstructions(selected.name, daemon, options);
    const decision = await connectTool(selected, daemon, options);
    if (decision === "declined") process.exitCode = EXIT.failed;
    if (decision !== "done") return;
    if (model !== undefined) await noteSimilarModels([model], argv.config);
    await noteUnreachable(daemon, [selected], scope);
  },
});

/** Says what is left to do before connected tools reach an API through tollkeeper, now and after its next start. */
async function noteUnreachable(
  { config, port, isRunning }: LocalDaemon,
  connected: readonly ConnectableTool[],
  scope: Scope,
): Promise<void> {
  const host = readToolHost();
  const accounts = await Promise.all(connected.map((tool) => readAccount(tool, host, scope)));
  // What a plan pays needs no upstream.
  if (Object.keys(config.upstreams).length === 0 && accounts.some((account) => account !== "plan"))
    note(
      "note: no API is set up, so the built-in sandbox responds to the tool, with made-up text; to set one up, type: tollkeeper setup",
    );
  if (!isRunning) {
    const { message, hint } = await explainAbsence();
    note(`note: ${message}; ${hint}`);
  } else if (config.listen.port === 0) {
    note(
      `note: tollkeeper may use another port than ${port} after its next start; to keep this one, type: tollkeeper config set listen.port ${port}`,
    );
  }
}

async function showTools(configFile: string | undefined, json: boolean): Promise<void> {
  const status = await daemonStatus();
  const config = await loadConfig(configFile ?? status?.config.path);
  const port = knownPort(status, config);
  const { mode } = status?.access ?? config.access;
  const listed = await listTools(readToolHost(), mode === "token");
  const tools = listed.map((one) => ({ ...one, ownKeyAt: passingUpstreams(config, one.tool) }));
  if (json) printJson(tools);
  else printStyled(renderTools(tools, port, config));
}

function connectEach(
  tools: readonly ConnectableTool[],
  daemon: LocalDaemon,
  options: ConnectOptions,
): ToolChange[] {
  return tools.map((tool) => ({
    title: tool.title,
    make: () => connectTool(tool, daemon, options),
  }));
}
