import {
  connectionState,
  readConnections,
  type Connection,
  type ConnectionState,
} from "../../connect/connection.ts";
import { isInstalled } from "../../connect/installed.ts";
import type { Recipe, Scope, HostInfo } from "../../tools/recipe.ts";
import { RECIPES } from "../../tools/all.ts";
import { anyDestination, toolHostInfo } from "./destination.ts";
import { findBaseUrls } from "../dotfiles/find-base-urls.ts";
import { readPlaces } from "../dotfiles/read.ts";
import { shorten } from "../hints.ts";
import { connectionsDirectory } from "../../adapters/paths.ts";
import { layOut, type Column } from "../terminal/table.ts";

/** How a tool is connected, once; it can be for several projects. */
export interface ListedConnection {
  scope: Scope;
  /** The project's; null for all of the user's. */
  directory: string | null;
  /** When `connect` made it, ISO 8601; null for one that was made by hand. */
  since: string | null;
  /** `by-hand`: what stands there leads to tollkeeper, and `connect` did not write it. */
  state: ConnectionState | "by-hand";
  /** The port that its base URLs name; null where none stands in its files. */
  port: number | null;
}

/** A tool that is known, as `connect --list --json` prints it. */
export interface ListedTool extends Pick<Recipe, "tool" | "title" | "scopes" | "tried" | "source" | "date"> {
  isInstalled: boolean;
  /** Does it listen to its environment, or to flags, as `run` sets them? */
  isRunnable: boolean;
  connections: ListedConnection[];
}

/** Looks at every tool, where its settings are here. */
export async function listTools(): Promise<ListedTool[]> {
  const on = toolHostInfo();
  const connections = readConnections(connectionsDirectory());
  const tools: ListedTool[] = [];
  for (const recipe of RECIPES) {
    const { tool, title, scopes, tried, source, date } = recipe;
    const own = connections.filter(({ identity }) => identity.tool === tool);
    const listed = await Promise.all(own.map(describe));
    if (!listed.some(({ scope }) => scope === "user")) listed.push(...(await findByHand(recipe, on)));
    const about = { tool, title, scopes, tried, source, date, isInstalled: isInstalled(recipe, on) };
    const isRunnable = recipe.environment(on, anyDestination(tool)) !== null;
    tools.push({ ...about, isRunnable, connections: listed });
  }
  return tools;
}

async function describe({ identity, since, files }: Connection): Promise<ListedConnection> {
  const state = connectionState(connectionsDirectory(), identity) ?? "gone";
  const { tool, scope, directory } = identity;
  return { scope, directory, since, state, port: await portIn(files, tool) };
}

async function findByHand(recipe: Recipe, on: HostInfo): Promise<ListedConnection[]> {
  const { tool, scopes } = recipe;
  if (!scopes.includes("user")) return [];
  const port = await portIn(recipe.plan(on, anyDestination(tool), "user").files, tool);
  return port === null ? [] : [{ scope: "user", directory: null, since: null, state: "by-hand", port }];
}

async function portIn(files: readonly { path: string }[], tool: string): Promise<number | null> {
  const texts = await readPlaces(files.map(({ path }) => ({ kind: "tool", path })));
  const urls = texts.flatMap(({ text }) => findBaseUrls(text, []));
  return urls.find(({ mark }) => mark === `/t/${tool}`)?.port ?? null;
}

const COLUMNS = ["tool", "name", "installed", "connected", "settings", "tried"].map((head): Column => ({
  head,
  align: "left",
}));

/**
 * The tools as a table.
 * @param port on which tollkeeper is to be reached; null where that is not known
 */
export function renderTools(tools: readonly ListedTool[], port: number | null): string {
  const { home } = toolHostInfo();
  const rows = tools.map(({ connections, scopes, isRunnable, ...about }) => [
    about.title,
    about.tool,
    about.isInstalled ? "yes" : "no",
    connections.map((connection) => writeConnection(connection, port, home)).join("; ") || "no",
    scopes.join(", ") || (isRunnable ? "none; tollkeeper run" : "none; by hand"),
    about.tried ?? "not tried here",
  ]);
  return layOut(COLUMNS, rows);
}

const STATES: Record<ListedConnection["state"], string> = {
  connected: "yes",
  changed: "changed since",
  gone: "no longer",
  "by-hand": "by hand",
};

function writeConnection(
  { state, directory, port: its }: ListedConnection,
  port: number | null,
  home: string,
): string {
  const where = directory === null ? "" : ` in ${shorten(directory, home)}`;
  const elsewhere = its === null || its === port ? "" : `, to port ${its}`;
  return `${STATES[state]}${where}${elsewhere}`;
}
