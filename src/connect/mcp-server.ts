import { Failure } from "../core/failure.ts";
import { findSetting } from "../tools/recipe/layers.ts";
import { isOwnMcpServer, mcpServerSetting, type McpCommand } from "../tools/recipe/mcp-server.ts";
import type { Value } from "../tools/setting.ts";
import type { ConnectableTool, Scope, SettingsPlan, ToolHost } from "../tools/tool.ts";
import { addSettings, readLayers } from "./conflicts.ts";

/** Whether a tool is to start our MCP server. */
export interface McpServerWish {
  /** undefined: it stays as it is. */
  isWanted: boolean | undefined;
  command: McpCommand;
}

/** The name of our server in a tool's settings. */
const NAME = "tollkeeper";

/**
 * Adds our MCP server to a tool's plan if it is wanted, or already there. Its options and whatever else the user has added to it stay.
 * @throws Failure when it is wanted for a tool or a scope that has none, or when a server of the user's own has its name
 */
export function planMcpServer(
  { title, mcpServers }: ConnectableTool,
  host: ToolHost,
  scope: Scope,
  plan: SettingsPlan,
  { isWanted, command }: McpServerWish,
): SettingsPlan {
  if (mcpServers === undefined || scope !== "user") {
    if (isWanted !== true) return plan;
    throw new Failure(
      mcpServers === undefined
        ? `${title} has no MCP servers that connect can set`
        : `connect sets an MCP server of ${title} for the user only`,
      "to see what to enter by hand, read docs/mcp.md",
    );
  }
  const { keyPath, form, file } = mcpServers;
  const place = file(host);
  const path = [...keyPath, NAME];
  const present = findSetting(readLayers([{ kind: "user", ...place }]), ...path)?.value;
  const isOurs = isOwnMcpServer(present);
  if (!(isWanted ?? isOurs)) return plan;
  if (present !== undefined && !isOurs)
    throw new Failure(
      `${place.path} has an MCP server of yours that is called "${NAME}"; nothing was changed`,
      "give it another name, or remove it, and try again",
    );
  const value = isWanted === true ? mcpServerSetting(form, command, present) : (present as Value);
  const purpose = "an MCP server, so that the agent can ask what it costs and what is left";
  const settings = [{ keyPath: path, value, purpose, isMcpServer: true as const }];
  return { ...plan, files: addSettings(plan.files, { ...place, settings }) };
}
