import { connectionsDirectory } from "../../adapters/paths.ts";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import type { ConnectionId } from "../../connect/connection.ts";
import { prepareTool, type PreparedTool } from "../../connect/tool-connection.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { findStrangers } from "../../core/policy/tool-reach.ts";
import type { Account, ConnectableTool, LocalEndpoint } from "../../tools/tool.ts";
import { findConnectionToken, NEW_TOKEN, replaceConnectionToken, writesToken } from "./connection-token.ts";
import { note } from "../terminal/console.ts";
import { describeConflict } from "./describe-conflict.ts";
import { mcpCommand, statusLineCommand } from "./status-line.ts";
import { readToolHost, resolveEndpoint, toPlanEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import { permitPlan } from "./plan-permission.ts";

/** What the directory of connections holds, for messages. */
export const BACKUPS = "what connect keeps to restore your tools' settings";

/** What the user asks of a connection. */
export interface ConnectionWishes {
  /** The model to configure; undefined lets the daemon's list decide. */
  model: string | undefined;
  /** Whether the tool is to show our status line; undefined leaves it as it is. */
  statusLine?: boolean | undefined;
  /** Whether the tool is to start our MCP server; undefined leaves it as it is. */
  mcp?: boolean | undefined;
  /** Whether the tool is to take our base URL for its vendor's own. */
  isFirstParty?: boolean | undefined;
}

/** As {@link ConnectionWishes}, with who pays. */
interface DecidedWishes extends ConnectionWishes {
  account: Account;
}

/** The connection of a tool, prepared but not yet made. */
interface ToolConnection extends Omit<PreparedTool, "modelConflicts"> {
  baseUrl: string;
  /** Makes it, and creates the token it needs. @throws Failure, with nothing changed */
  commit(): Promise<void>;
}

/**
 * Prepares the connection of a tool. A token that its files already hold stays if it is still registered.
 * @throws Failure when the tool cannot be connected
 */
export async function prepareToolConnection(
  tool: ConnectableTool,
  daemon: LocalDaemon,
  id: ConnectionId,
  { model, statusLine, mcp, isFirstParty = false, account }: DecidedWishes,
): Promise<ToolConnection> {
  await refuseExposed(connectionsDirectory(), BACKUPS);
  const token = daemon.config.access.mode === "token" ? NEW_TOKEN : null;
  const wishes = {
    statusLine: { isWanted: statusLine, command: statusLineCommand() },
    mcpServer: { isWanted: mcp, command: mcpCommand() },
  };
  const permission = account === "plan" ? await permitPlan(tool, daemon) : null;
  const prepare = (resolved: LocalEndpoint) => {
    const endpoint = { ...resolved, isFirstParty };
    if (isFirstParty) requireFirstParty(tool, daemon.config, account);
    const directory = connectionsDirectory();
    return { endpoint, ...prepareTool(tool, readToolHost(), endpoint, directory, id, wishes, permission) };
  };
  const resolve = async (...apis: Parameters<typeof resolveEndpoint>[4][]) => {
    const endpoint = await resolveEndpoint(selected, daemon, token, model, ...apis);
    return account === "plan" ? toPlanEndpoint(endpoint) : endpoint;
  };
  const selected = { tool, name: tool.name };
  const first = prepare(await resolve());
  for (const conflict of first.modelConflicts) {
    const { where, what } = describeConflict(conflict, id);
    note(`note: without a model, ${where} ${what}`);
  }
  const { endpoint, ...prepared } =
    first.modelConflicts.length > 0 ? prepare(await resolve(tool.conflicts?.modelApis)) : first;
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

/**
 * A tool that takes us for its vendor sends what only the vendor reads, so all of its requests must go there.
 * @throws Failure when some can go elsewhere, or when the tool has no such mode
 */
function requireFirstParty(
  { name, title, hasFirstPartyMode }: ConnectableTool,
  config: Config,
  account: Account,
): void {
  const without = `to connect it without --first-party, type: tollkeeper connect ${name}`;
  if (hasFirstPartyMode !== true)
    throw new Failure(`--first-party is for Claude Code, and means nothing to ${title}`, without);
  // A plan's requests go to the vendor alone.
  if (account === "plan") return;
  const strangers = findStrangers(config, name);
  if (strangers?.length === 0) return;
  const why =
    strangers === null
      ? "no upstream serves the Messages API"
      : `its requests can go to ${strangers.map((one) => JSON.stringify(one)).join(", ")}, too`;
  throw new Failure(
    `--first-party needs upstreams at api.anthropic.com alone, and ${why}; nothing was changed`,
    without,
  );
}
