import { connectionsDirectory } from "../../adapters/paths.ts";
import {
  pathsMade,
  readConnectionState,
  readConnections,
  type Connection,
  type ConnectionState,
} from "../../connect/connection.ts";
import { findConflicts } from "../../connect/conflicts.ts";
import { isInstalled } from "../../connect/installed.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import type { Conflict } from "../../tools/conflict.ts";
import type { ConnectableTool, Scope, ToolHost } from "../../tools/tool.ts";
import { findBaseUrls } from "../dotfiles/find-base-urls.ts";
import { readDotfiles } from "../dotfiles/read.ts";
import { displayPath } from "../terminal/format.ts";
import { formatTable, type Column } from "../terminal/table.ts";
import { describeConflict, type DescribedConflict } from "./describe-conflict.ts";
import { connectedEndpoint, placeholderEndpoint, readToolHost } from "./local-endpoint.ts";

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
  /** What works against it; in a project's connection, in that project, otherwise in the working directory. */
  conflicts: (DescribedConflict & Pick<Conflict, "effect">)[];
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
export async function listTools(host: ToolHost): Promise<ListedTool[]> {
  const connections = readConnections(connectionsDirectory());
  const made = pathsMade(connectionsDirectory());
  const tools: ListedTool[] = [];
  for (const tool of CONNECTABLE_TOOLS) {
    const { name, title, scopes, tried, source, date } = tool;
    const own = connections.filter(({ id }) => id.tool === name);
    const listed = await Promise.all(own.map((connection) => describeConnection(connection, tool, host)));
    if (!listed.some(({ scope }) => scope === "user"))
      listed.push(...(await findManualConnection(tool, host)));
    const facts = {
      tool: name,
      title,
      scopes,
      tried,
      source,
      date,
      isInstalled: isInstalled(tool, host, made),
    };
    const isRunnable = tool.environment(host, placeholderEndpoint(name)) !== null;
    tools.push({ ...facts, isRunnable, connections: listed });
  }
  return tools;
}

async function describeConnection(
  { id, since, files }: Connection,
  tool: ConnectableTool,
  host: ToolHost,
): Promise<ListedConnection> {
  const state = readConnectionState(connectionsDirectory(), id) ?? "gone";
  const { scope, directory } = id;
  const port = await findPort(files, tool.name);
  const conflicts =
    state === "gone"
      ? []
      : listConflicts(tool, { ...host, directory: directory ?? host.directory }, scope, port);
  return { scope, directory, since, state, port, conflicts };
}

function listConflicts(
  tool: ConnectableTool,
  host: ToolHost,
  scope: Scope,
  port: number | null,
): ListedConnection["conflicts"] {
  const endpoint = connectedEndpoint(tool.name, port);
  const plan = tool.plan(host, endpoint, scope);
  return findConflicts(tool, host, endpoint, scope, plan, []).map((conflict) => {
    return { effect: conflict.effect, ...describeConflict(conflict, tool, scope) };
  });
}

async function findManualConnection(tool: ConnectableTool, host: ToolHost): Promise<ListedConnection[]> {
  const { name, scopes } = tool;
  if (!scopes.includes("user")) return [];
  const port = await findPort(tool.plan(host, placeholderEndpoint(name), "user").files, name);
  if (port === null) return [];
  const conflicts = listConflicts(tool, host, "user", port);
  return [{ scope: "user", directory: null, since: null, state: "by-hand", port, conflicts }];
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
  return [formatTable(COLUMNS, rows), ...describeDiversions(tools)].join("\n");
}

/** Returns a line for each setting that sends a connected tool's requests elsewhere. */
function describeDiversions(tools: readonly ListedTool[]): string[] {
  return tools.flatMap(({ tool, connections }) =>
    diversionsOf(connections).map(({ where, what, fix }) => `\n${tool}: ${where} ${what}\n  -> ${fix}`),
  );
}

/** Returns the conflicts by which requests go elsewhere. */
export function diversionsOf(connections: readonly ListedConnection[]): DescribedConflict[] {
  return connections.flatMap(({ conflicts }) => conflicts.filter(({ effect }) => effect === "elsewhere"));
}

const STATES: Record<ListedConnection["state"], string> = {
  connected: "yes",
  changed: "changed since",
  gone: "no longer",
  "by-hand": "by hand",
};

function formatConnection(connection: ListedConnection, port: number | null, home: string): string {
  const { state, directory, port: connectedPort } = connection;
  const where = directory === null ? "" : ` in ${displayPath(directory, home)}`;
  const target = connectedPort === null || connectedPort === port ? "" : `, to port ${connectedPort}`;
  const exception = diversionsOf([connection]).length > 0 ? ", but see below" : "";
  return `${STATES[state]}${where}${target}${exception}`;
}
