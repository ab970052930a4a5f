import { connectionsDirectory } from "../../adapters/paths.ts";
import { readConnectionState } from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { ConnectableTool } from "../../tools/tool.ts";
import { attempt } from "../attempt.ts";
import { connectionIdFor, connectTool } from "../connect/connect-tool.ts";
import { findInstalledTools } from "../connect/installed-tools.ts";
import { locateDaemon } from "../connect/locate-daemon.ts";
import { requireTool } from "../connect/select-tool.ts";
import { changeEach } from "../connect/tool-changes.ts";
import { confirm } from "../terminal/confirm.ts";
import { EXIT, note, printFailure } from "../terminal/console.ts";
import type { SetupOptions } from "./options.ts";
import type { Progress } from "./progress.ts";

const SCOPE = "user";

/** Returns the tools that `--connect` names; null when it is left to a question. @throws Failure for an unknown one */
export function selectTools({ connect, yes }: SetupOptions): readonly ConnectableTool[] | null {
  if (connect === undefined) return yes ? [] : null;
  return connect.includes("all") ? findInstalledTools(SCOPE) : connect.map(requireTool);
}

/**
 * Connects the tools, or those that a person chooses of the ones on this machine. A failure is printed, and sets exit code 1.
 * @param chosen null to ask
 */
export async function offerTools(
  file: string,
  chosen: readonly ConnectableTool[] | null,
  { yes }: SetupOptions,
  progress: Progress,
): Promise<void> {
  const tools = chosen ?? (await askTools());
  if (tools.length === 0) return progress.add("tools", "unchanged; see them with: tollkeeper connect --list");
  const { value: daemon, failure } = await attempt(Failure, async () =>
    locateDaemon(await daemonStatus(), file),
  );
  if (failure !== null) {
    printFailure(failure);
    process.exitCode = EXIT.failed;
    return progress.add("tools", "not connected; fix the error above, then type: tollkeeper connect --all");
  }
  const options = { scope: SCOPE, model: undefined, isDryRun: false, isConfirmed: yes } as const;
  const report = ({ title }: ConnectableTool, outcome: keyof typeof OUTCOMES) =>
    progress.add("tool", `${title}: ${OUTCOMES[outcome]}`);
  const connect = async (tool: ConnectableTool) => {
    try {
      const decision = await connectTool(tool, daemon, options);
      report(tool, decision);
      return decision;
    } catch (error) {
      report(tool, "failed");
      throw error;
    }
  };
  await changeEach(tools.map((tool) => ({ title: tool.title, make: () => connect(tool) })));
}

const OUTCOMES = {
  done: "connected; restart it if it is running",
  shown: "not connected",
  declined: "not connected, as you chose",
  failed: "not connected; see the error above",
};

async function askTools(): Promise<ConnectableTool[]> {
  const tools = findInstalledTools(SCOPE);
  const open = tools.filter(({ name }) => !isConnected(name));
  const connected = tools.filter((tool) => !open.includes(tool));
  if (connected.length > 0) note(`Already connected: ${titlesOf(connected)}.`);
  if (open.length === 0) {
    if (tools.length === 0) note("No AI tool that can be connected was found on this machine.");
    return connected;
  }
  note(`AI tools found on this machine: ${titlesOf(open)}.`);
  const isWanted = await confirm(
    "Connect them? Each change is shown first, and made only if you confirm it.",
    true,
  );
  return isWanted ? open : [];
}

function isConnected(tool: string): boolean {
  return readConnectionState(connectionsDirectory(), connectionIdFor(tool, SCOPE)) === "connected";
}

function titlesOf(tools: readonly ConnectableTool[]): string {
  return tools.map(({ title }) => title).join(", ");
}
