import { connectionsDirectory } from "../../adapters/paths.ts";
import {
  type ConnectionId,
  pathsMade,
  readConnectionState,
  readConnections,
  type Connection,
  type ConnectionState,
} from "../../connect/connection.ts";
import { findConflicts } from "../../connect/conflicts.ts";
import { isInstalled } from "../../connect/installed.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import type { TokenEntry } from "../../core/identity/token-entry.ts";
import { toPrintable, toPrintableLines } from "../../core/text/printable.ts";
import { passingUpstreams } from "../../core/policy/tool-access.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import type { Conflict } from "../../tools/conflict.ts";
import type { Account, ConnectableTool, Scope, ToolHost } from "../../tools/tool.ts";
import { attempt } from "../attempt.ts";
import { findBaseUrls } from "../dotfiles/find-base-urls.ts";
import { readDotfiles } from "../dotfiles/read.ts";
import { hasColours } from "../terminal/console.ts";
import { displayPath } from "../terminal/format.ts";
import { withProgramName } from "../terminal/program-name.ts";
import { listTokens } from "../tokens/tokens.ts";
import { formatTable, type Column } from "../terminal/table.ts";
import { isCommand, wrapAdvice } from "../terminal/wrap.ts";
import { findRegisteredTokens, NEW_TOKEN, writesToken } from "./connection-token.ts";
import { connectCommand, describeConflict, type DescribedConflict } from "./describe-conflict.ts";
import { findManualConnection } from "./manual-connection.ts";
import { connectedEndpoint, placeholderEndpoint, readToolHost } from "./local-endpoint.ts";
import { keysOf } from "./payer/who-pays.ts";

/** The rest of a sentence that begins with a connected tool. */
export const NO_TOKEN = "it has no registered local token, so its requests are refused";

/** One connection of a tool, which can have one for the user and one per project. */
interface ListedConnection {
  scope: Scope;
  /** The project's directory; null for the scope `user`. */
  directory: string | null;
  /** When `connect` made it, in ISO 8601; null for a manual connection. */
  since: string | null;
  /** `by-hand`: the settings point at tollkeeper, and `connect` did not write them. */
  state: ConnectionState | "by-hand";
  /** Of a manual connection, the file that points at tollkeeper; otherwise null. */
  path: string | null;
  /** The port in the tool's base URL; null when its files have none. */
  port: number | null;
  /** Who pays; null when its files have no base URL. */
  account: Account | null;
  /** What works against it; in a project's connection, in that project, otherwise in the working directory. */
  conflicts: (DescribedConflict & Pick<Conflict, "effect">)[];
  /** Where tokens are required and it has none that is registered: what gives it one. Otherwise null. */
  tokenFix: string | null;
}

/** A known tool, as `connect --list --json` prints it. */
export interface ListedTool extends Pick<ConnectableTool, "title" | "scopes" | "tried" | "source" | "date"> {
  tool: string;
  isInstalled: boolean;
  /** True when it follows its environment or flags, so that `run` can connect it. */
  isRunnable: boolean;
  connections: ListedConnection[];
}

/** Returns every known tool with its connections on this machine. Tokens that cannot be read count as not required. */
export async function listTools(host: ToolHost, requiresToken: boolean): Promise<ListedTool[]> {
  const connections = readConnections(connectionsDirectory());
  const made = pathsMade(connectionsDirectory());
  const { value: tokens } = requiresToken ? await attempt(Failure, listTokens) : { value: null };
  const tools: ListedTool[] = [];
  for (const tool of CONNECTABLE_TOOLS) {
    const { name, title, scopes, tried, source, date } = tool;
    const own = connections.filter(({ id }) => id.tool === name);
    const listed = await Promise.all(
      own.map((connection) => describeConnection(connection, tool, host, tokens)),
    );
    if (!listed.some(({ scope }) => scope === "user"))
      listed.push(...(await listManualConnection(tool, host, tokens)));
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
  tokens: readonly TokenEntry[] | null,
): Promise<ListedConnection> {
  const state = readConnectionState(connectionsDirectory(), id) ?? "gone";
  const { scope, directory } = id;
  const texts = await readTexts(files);
  const { port, account } = findAddress(texts, tool.name);
  const listed = { scope, directory, since, state, path: null, port, account };
  if (state === "gone") return { ...listed, conflicts: [], tokenFix: null };
  const there = { ...host, directory: directory ?? host.directory };
  const conflicts = listConflicts(tool, there, id, listed);
  const writesOwn = writesTokenFor(tool, there, scope, account);
  const hasOne = tokens === null || hasToken(texts, tool.name, writesOwn, tokens);
  return { ...listed, conflicts, tokenFix: hasOne ? null : describeTokenFix(tool, id, writesOwn) };
}

function writesTokenFor(
  tool: ConnectableTool,
  host: ToolHost,
  scope: Scope,
  account: Account | null,
): boolean {
  const endpoint = connectedEndpoint(tool.name, null, account ?? "key", NEW_TOKEN);
  return writesToken(tool.plan(host, endpoint, scope));
}

/** Where connecting writes no token, the tool keeps it elsewhere, and any that is registered for the tool may be that one. */
function hasToken(
  texts: readonly string[],
  tool: string,
  writesOwn: boolean,
  tokens: readonly TokenEntry[],
): boolean {
  const isForTool = tokens.some((entry) => entry.tool === tool);
  return findRegisteredTokens(texts, tokens).length > 0 || (!writesOwn && isForTool);
}

function describeTokenFix({ name, title }: ConnectableTool, id: ConnectionId, writesOwn: boolean): string {
  if (writesOwn) return connectCommand(id);
  return `tollkeeper token add ${name}; then enter that token in ${title} as its API key`;
}

function listConflicts(
  tool: ConnectableTool,
  host: ToolHost,
  id: ConnectionId,
  { port, account }: Pick<ListedConnection, "port" | "account">,
): ListedConnection["conflicts"] {
  const endpoint = connectedEndpoint(tool.name, port, account ?? "key");
  const plan = tool.plan(host, endpoint, id.scope);
  return findConflicts(tool, host, endpoint, id.scope, plan, []).map((conflict) => {
    return { effect: conflict.effect, ...describeConflict(conflict, id) };
  });
}

async function listManualConnection(
  tool: ConnectableTool,
  host: ToolHost,
  tokens: readonly TokenEntry[] | null,
): Promise<ListedConnection[]> {
  const { name } = tool;
  const manual = await findManualConnection(tool, host);
  if (manual === null) return [];
  const { texts, path } = manual;
  const { port, account } = findAddress(texts, name);
  const id = { tool: name, scope: "user", directory: null } as const;
  const conflicts = listConflicts(tool, host, id, { port, account });
  const writesOwn = writesTokenFor(tool, host, "user", account);
  const hasOne = tokens === null || hasToken(texts, name, false, tokens);
  const { scope, directory } = id;
  const listed = { scope, directory, since: null, state: "by-hand", path, port, account, conflicts } as const;
  return [{ ...listed, tokenFix: hasOne ? null : describeTokenFix(tool, id, writesOwn) }];
}

async function readTexts(files: readonly { path: string }[]): Promise<string[]> {
  const dotfiles = await readDotfiles(files.map(({ path }) => ({ kind: "tool", path })));
  return dotfiles.map(({ text }) => text);
}

function findAddress(texts: readonly string[], tool: string): Pick<ListedConnection, "port" | "account"> {
  const urls = texts.flatMap((text) => findBaseUrls(text, []));
  const own = urls.find(({ mark }) => mark === `/t/${tool}`);
  if (own === undefined) return { port: null, account: null };
  return { port: own.port, account: own.isPlan ? "plan" : "key" };
}

const COLUMNS: readonly Column[] = [
  { head: "tool", align: "left", long: "cut" },
  { head: "name", align: "left", long: "whole" },
  { head: "installed", align: "left", long: "whole" },
  { head: "connected", align: "left" },
  { head: "settings", align: "left", long: "whole", order: 1 },
  { head: "tested with", align: "left", long: "cut", order: 2 },
];

/**
 * Formats the tools as a table. Control characters are escaped.
 * @param port tollkeeper's own port; null when it is unknown
 * @param config says for which tools an upstream takes a key
 * @param width characters in a line; Infinity in a pipe
 */
export function renderTools(
  tools: readonly ListedTool[],
  port: number | null,
  config: Config,
  width = process.stdout.columns || Infinity,
): string {
  const { home } = readToolHost();
  const rows = tools.map(({ connections, scopes, isRunnable, ...facts }) => [
    facts.title,
    facts.tool,
    facts.isInstalled ? "yes" : "no",
    connections
      .map((connection) => formatConnection(connection, port, home, describeKeyPayers(config, facts.tool)))
      .join("; ") || "no",
    scopes.join(", ") || (isRunnable ? "use tollkeeper run" : "by hand"),
    facts.tried ?? "not tested",
  ]);
  // What is on this machine stands out.
  const shown = rows.map((row, at) => {
    const one = tools[at];
    const tone = one?.isInstalled === false && one.connections.length === 0 ? "faint" : "plain";
    return row.map((text) => ({ text: toPrintable(withProgramName(text)), tone }) as const);
  });
  const problems = tools.flatMap(describeProblems).flatMap((problem) => layOutProblem(problem, width));
  return [formatTable(COLUMNS, shown, hasColours(), width), ...problems].join("\n");
}

/** What keeps a tool's requests from tollkeeper, and what to do. */
interface Problem {
  what: string;
  fix: string;
}

/** Says what keeps a connected tool's requests from tollkeeper, and what to do. */
function describeProblems({ tool, connections }: ListedTool): Problem[] {
  const diversions = diversionsOf(connections);
  return [
    ...connections.flatMap(({ tokenFix }) => (tokenFix === null ? [] : { what: NO_TOKEN, fix: tokenFix })),
    ...diversions.map(({ where, what, fix }) => ({ what: `${where} ${what}`, fix })),
  ].map(({ what, fix }) => ({ what: `${tool}: ${what}`, fix }));
}

/** A command that is the whole fix is copied, so it is not broken. */
function layOutProblem({ what, fix }: Problem, width: number): string[] {
  const [said, next] = [toPrintableLines(what), toPrintableLines(fix)];
  const lines = isCommand(next) ? [withProgramName(next)] : wrapAdvice(next, width - ARROW.length);
  return [
    "",
    ...wrapAdvice(said, width),
    ...lines.map((line, at) => `${at === 0 ? ARROW : " ".repeat(ARROW.length)}${line}`),
  ];
}

const ARROW = "  -> ";

/** Returns the conflicts by which requests go elsewhere, or come without the login of the plan that is to pay. */
export function diversionsOf(connections: readonly ListedConnection[]): DescribedConflict[] {
  return connections.flatMap(({ conflicts }) =>
    conflicts.filter(({ effect }) => effect === "elsewhere" || effect === "login"),
  );
}

const STATES: Record<ListedConnection["state"], string> = {
  connected: "yes",
  changed: "changed since",
  gone: "no longer",
  "by-hand": "by hand",
};

/** Whose keys pay for a tool: stored ones, the tool's own, or both; empty where no upstream takes a key. */
function describeKeyPayers(config: Config, tool: string): string {
  const passing = passingUpstreams(config, tool);
  const payers = [
    keysOf(config, tool).length > 0 && "your key pays",
    passing.length > 0 && `its own key pays at ${passing.join(" and ")}`,
  ].filter((one) => one !== false);
  return payers.length === 0 ? "" : ` (${payers.join("; ")})`;
}

function formatConnection(
  connection: ListedConnection,
  port: number | null,
  home: string,
  byKeys: string,
): string {
  const { state, directory, port: connectedPort, account } = connection;
  const place = directory ?? connection.path;
  const where = place === null ? "" : ` in ${displayPath(place, home)}`;
  const target = connectedPort === null || connectedPort === port ? "" : `, to port ${connectedPort}`;
  const isFine = connection.tokenFix === null && diversionsOf([connection]).length === 0;
  const exception = isFine ? "" : ", but see below";
  const payer = account === "plan" ? " (its plan pays)" : account === "key" ? byKeys : "";
  return `${STATES[state]}${where}${target}${payer}${exception}`;
}
