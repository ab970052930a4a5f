import { connectionsDirectory } from "../../adapters/paths.ts";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import type { ConnectionId } from "../../connect/connection.ts";
import { prepareTool, type PreparedTool } from "../../connect/tool-connection.ts";
import type { ConnectableTool, LocalEndpoint } from "../../tools/tool.ts";
import { findConnectionToken, NEW_TOKEN, replaceConnectionToken, writesToken } from "./connection-token.ts";
import { note } from "../terminal/console.ts";
import { describeConflict } from "./describe-conflict.ts";
import { statusLineCommand } from "./status-line.ts";
import { readToolHost, resolveEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";

/** What the directory of connections holds, for messages. */
export const BACKUPS = "what connect keeps to restore your tools' settings";

/** The connection of a tool, prepared but not yet made. */
interface ToolConnection extends Omit<PreparedTool, "modelConflicts"> {
  baseUrl: string;
  /** Makes it, and creates the token it needs. @throws Failure, with nothing changed */
  commit(): Promise<void>;
}

/**
 * Prepares the connection of a tool. A token that its files already hold stays if it is still registered.
 * @param model the requested one; undefined lets the daemon's list decide
 * @param statusLine whether the tool is to show our status line; undefined leaves it as it is
 * @throws Failure when the tool cannot be connected
 */
export async function prepareToolConnection(
  tool: ConnectableTool,
  daemon: LocalDaemon,
  id: ConnectionId,
  model: string | undefined,
  statusLine: boolean | undefined,
): Promise<ToolConnection> {
  await refuseExposed(connectionsDirectory(), BACKUPS);
  const token = daemon.config.access.mode === "token" ? NEW_TOKEN : null;
  const wish = { isWanted: statusLine, command: statusLineCommand() };
  const prepare = (endpoint: LocalEndpoint) => {
    return { endpoint, ...prepareTool(tool, readToolHost(), endpoint, connectionsDirectory(), id, wish) };
  };
  const selected = { tool, name: tool.name };
  const first = prepare(await resolveEndpoint(selected, daemon, token, model));
  for (const conflict of first.modelConflicts) {
    const { where, what } = describeConflict(conflict, id);
    note(`note: without a model, ${where} ${what}`);
  }
  const { endpoint, ...prepared } =
    first.modelConflicts.length > 0
      ? prepare(await resolveEndpoint(selected, daemon, token, model, tool.conflicts?.modelApis))
      : first;
  const prepareWith = (credential: string) => prepare({ ...endpoint, credential });
  const { baseUrl } = endpoint;
  const needsToken = writesToken(prepared.plan);
  const texts = prepared.change.changes.map(({ before }) => before ?? "");
  const existing = needsToken ? findConnectionToken(id, texts) : null;
  if (needsToken && existing === null) {
    const write = (created: string) => void prepareWith(created).change.commit();
    return { baseUrl, ...prepared, commit: () => replaceConnectionToken(id, write) };
  }
  const connection = existing === null ? prepared : prepareWith(existing);
  return { ...connection, baseUrl, commit: async () => void connection.change.commit() };
}
