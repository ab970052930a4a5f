import { connectionsDirectory } from "../../adapters/paths.ts";
import {
  readConnectionState,
  readConnections,
  type Connection,
  type ConnectionState,
} from "../../connect/connection.ts";
import { isInstalled } from "../../connect/installed.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import type { ConnectableTool, Scope, ToolHost } from "../../tools/tool.ts";
import { findBaseUrls } from "../dotfiles/find-base-urls.ts";
import { readDotfiles } from "../dotfiles/read.ts";
import { displayPath } from "../terminal/format.ts";
import { formatTable, type Column } from "../terminal/table.ts";
import { placeholderEndpoint, readToolHost } from "./local-endpoint.ts";

/** One connection of a tool, which can have one for the user and one per project. */
interface ListedConnection {
  scope: Scope;
  /** The project's directory; null for the scope `user`. */
  directory: string | null;
  /** When `connect` made it, in ISO 8601; null for a manual connection. */
  since: string | null;
  /** `by-hand`: the settings point at tollkeeper, and `connect` did not write them. */
  state: ConnectionState | "by-hand";
  /** The port in the tool's base URL; null when its files have none. */
  port: number | null;
}

/** A known tool, as `connect --list --json` prints it. */
export interface ListedTool extends Pick<ConnectableTool, "title" | "scopes" | "tried" | "source" | "date"> {
  tool: string;
  isInstalled: boolean;
  /** True when it follows its environment or flags, so that `run` can connect it. */
  isRunnable: boolean;
  connections: ListedConnection[];
}

/** Returns every known tool with its connections on this machine. */
export async function listTools(): Promise<ListedTool[]> {
  const host = readToolHost();
  const connections = readConnections(connectionsDirectory());
  const tools: ListedTool[] = [];
  for (const tool of CONNECTABLE_TOOLS) {
    const { name, title, scopes, tried, source, date } = tool;
    const own = connections.filter(({ id }) => id.tool === name);
    const listed = await Promise.all(own.map(describeConnection));
    if (!listed.some(({ scope }) => scope === "user"))
      listed.push(...(await findManualConnection(tool, host)));
    const facts = { tool: name, title, scopes, tried, source, date, isInstalled: isInstalled(tool, host) };
    const isRunnable = tool.environment(host, placeholderEndpoint(name)) !== null;
    tools.push({ ...facts, isRunnable, connections: listed });
  }
  return tools;
}

async function describeConnection({ id, since, files }: Connection): Promise<ListedConnection> {
  const state = readConnectionState(connectionsDirectory(), id) ?? "gone";
  const { tool, scope, directory } = id;
  return { scope, directory, since, state, port: await findPort(files, tool) };
}

async function findManualConnection(tool: ConnectableTool, host: ToolHost): Promise<ListedConnection[]> {
  const { name, scopes } = tool;
  if (!scopes.includes("user")) return [];
  const port = await findPort(tool.plan(host, placeholderEndpoint(name), "user").files, name);
  return port === null ? [] : [{ scope: "user", directory: null, since: null, state: "by-hand", port }];
}

async function findPort(files: readonly { path: string }[], tool: string): Promise<number | null> {
  const texts = await readDotfiles(files.map(({ path }) => ({ kind: "tool", path })));
  const urls = texts.flatMap(({ text }) => findBaseUrls(text, []));
  return urls.find(({ mark }) => mark === `/t/${tool}`)?.port ?? null;
}

const COLUMNS = ["tool", "name", "installed", "connected", "settings", "tried"].map((head): Column => ({
  head,
  align: "left",
}));

/**
 * Formats the tools as a table.
 * @param port tollkeeper's own port; null when it is unknown
 */
export function renderTools(tools: readonly ListedTool[], port: number | null): string {
  const { home } = readToolHost();
  const rows = tools.map(({ connections, scopes, isRunnable, ...facts }) => [
    facts.title,
    facts.tool,
    facts.isInstalled ? "yes" : "no",
    connections.map((connection) => formatConnection(connection, port, home)).join("; ") || "no",
    scopes.join(", ") || (isRunnable ? "none; tollkeeper run" : "none; by hand"),
    facts.tried ?? "not tried here",
  ]);
  return formatTable(COLUMNS, rows);
}

const STATES: Record<ListedConnection["state"], string> = {
  connected: "yes",
  changed: "changed since",
  gone: "no longer",
  "by-hand": "by hand",
};

function formatConnection(
  { state, directory, port: connectedPort }: ListedConnection,
  port: number | null,
  home: string,
): string {
  const where = directory === null ? "" : ` in ${displayPath(directory, home)}`;
  const target = connectedPort === null || connectedPort === port ? "" : `, to port ${connectedPort}`;
  return `${STATES[state]}${where}${target}`;
}
