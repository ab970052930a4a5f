import { connectionsDirectory } from "../../adapters/paths.ts";
import { prepareConnection, type ConnectionId, type PreparedChange } from "../../connect/connection.ts";
import type { ConnectableTool, LocalEndpoint, SettingsPlan } from "../../tools/tool.ts";
import { createConnectionToken, findConnectionToken } from "./connection-token.ts";
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
  const { baseUrl } = endpoint;
  const { plan, change } = prepareWith(tool, endpoint, id);
  if (!JSON.stringify(plan.files).includes(NEW_TOKEN)) {
    return { baseUrl, plan, change, commit: async () => void change.commit() };
  }
  const texts = change.changes.map(({ before }) => before ?? "");
  const existing = findConnectionToken(id, texts);
  if (existing === null) {
    return { baseUrl, plan, change, commit: () => commitWithNewToken(tool, endpoint, id) };
  }
  const kept = prepareWith(tool, { ...endpoint, credential: existing }, id);
  return { baseUrl, ...kept, commit: async () => void kept.change.commit() };
}

function prepareWith(
  tool: ConnectableTool,
  endpoint: LocalEndpoint,
  id: ConnectionId,
): Pick<ToolConnection, "plan" | "change"> {
  const plan = tool.plan(readToolHost(), endpoint, id.scope);
  return { plan, change: prepareConnection(plan, connectionsDirectory(), id) };
}

/** Revokes the new token when it cannot be written, else the connection's older ones, which are no longer in use. */
async function commitWithNewToken(
  tool: ConnectableTool,
  endpoint: LocalEndpoint,
  id: ConnectionId,
): Promise<void> {
  const token = await createConnectionToken(id);
  try {
    prepareWith(tool, { ...endpoint, credential: token.value }, id).change.commit();
  } catch (error) {
    await token.revoke();
    throw error;
  }
  await token.revokeOlder();
}
