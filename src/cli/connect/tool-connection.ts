import { connectionsDirectory } from "../../adapters/paths.ts";
import { prepareConnection, type ConnectionId, type PreparedChange } from "../../connect/connection.ts";
import type { ConnectableTool, SettingsPlan } from "../../tools/tool.ts";
import { findConnectionToken, replaceConnectionToken } from "./connection-token.ts";
import { readToolHost, resolveEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";

/** Stands for the token, which is created only after the user has confirmed the change. */
const NEW_TOKEN = "a-new-local-token";

/** The connection of a tool, prepared but not yet made. */
interface ToolConnection {
  baseUrl: string;
  plan: SettingsPlan;
  change: PreparedChange;
  /** Makes it, and creates the token it needs. @throws Failure, with nothing changed */
  commit(): Promise<void>;
}

/**
 * Prepares the connection of a tool. A token that its files already hold stays if it is still registered.
 * @param model the requested one; undefined lets the daemon's list decide
 * @throws Failure when the tool cannot be connected
 */
export async function prepareToolConnection(
  tool: ConnectableTool,
  daemon: LocalDaemon,
  id: ConnectionId,
  model: string | undefined,
): Promise<ToolConnection> {
  const token = daemon.config.access.mode === "token" ? NEW_TOKEN : null;
  const endpoint = await resolveEndpoint({ tool, name: tool.name }, daemon, token, model);
  const prepareWith = (credential: string) => {
    const plan = tool.plan(readToolHost(), { ...endpoint, credential }, id.scope);
    return { plan, change: prepareConnection(plan, connectionsDirectory(), id) };
  };
  const { baseUrl, credential } = endpoint;
  const prepared = prepareWith(credential);
  const needsToken = JSON.stringify(prepared.plan.files).includes(NEW_TOKEN);
  const texts = prepared.change.changes.map(({ before }) => before ?? "");
  const existing = needsToken ? findConnectionToken(id, texts) : null;
  if (needsToken && existing === null) {
    const write = (created: string) => void prepareWith(created).change.commit();
    return { baseUrl, ...prepared, commit: () => replaceConnectionToken(id, write) };
  }
  const connection = existing === null ? prepared : prepareWith(existing);
  return { baseUrl, ...connection, commit: async () => void connection.change.commit() };
}
