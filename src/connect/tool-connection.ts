import type { FileSettings } from "../tools/setting.ts";
import type { ConnectableTool, LocalEndpoint, SettingsPlan, ToolHost } from "../tools/tool.ts";
import { findConflicts, withRemedies, type LocatedConflict } from "./conflicts.ts";
import { prepareConnection, type ConnectionId, type PreparedChange } from "./connection.ts";
import { planMcpServer, type McpServerWish } from "./mcp-server.ts";
import { planStatusLine, type ReplacedStatusLine, type StatusLineWish } from "./status-line.ts";

/** The connection of a tool, prepared but not yet made. */
export interface PreparedTool {
  plan: SettingsPlan;
  change: PreparedChange;
  /** What still works against the connection once it is made. */
  conflicts: readonly LocatedConflict[];
  /** The conflicts that a model would resolve; none when the endpoint has one. */
  modelConflicts: readonly LocatedConflict[];
  /** The user's own status line that it takes the place of: not without asking; null when there is none. */
  replacedStatusLine: ReplacedStatusLine | null;
}

/**
 * Prepares the connection of a tool, and resolves the conflicts with its other settings if these may be changed. Reads
 * the tool's files and writes nothing.
 * @param permission what tollkeeper's own configuration needs for this connection; null for nothing
 * @throws Failure, with file and line, when a file cannot be parsed or changed, or when the tool has no status line or MCP server and one is wanted
 */
export function prepareTool(
  tool: ConnectableTool,
  host: ToolHost,
  endpoint: LocalEndpoint,
  journalDirectory: string,
  id: ConnectionId,
  { statusLine, mcpServer }: { statusLine: StatusLineWish; mcpServer: McpServerWish },
  permission: FileSettings | null = null,
): PreparedTool {
  const { files, remarks } = tool.plan(host, endpoint, id.scope);
  const planned = { files: permission === null ? files : [...files, permission], remarks };
  const { plan: withLine, replaced } = planStatusLine(tool, host, planned, statusLine);
  const plan = planMcpServer(tool, host, id.scope, withLine, mcpServer);
  const find = ({ changes }: PreparedChange) => findConflicts(tool, host, endpoint, id.scope, plan, changes);
  const found = find(prepareConnection(plan, journalDirectory, id));
  const resolving = withRemedies(plan, found);
  const change = prepareConnection(resolving, journalDirectory, id);
  return {
    plan: resolving,
    change,
    conflicts: find(change),
    replacedStatusLine: replaced,
    modelConflicts: found.filter(({ needsModel, target }) => needsModel && target !== null),
  };
}
