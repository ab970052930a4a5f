import { connectionsDirectory } from "../../../adapters/paths.ts";
import { findConflicts } from "../../../connect/conflicts.ts";
import { readConnections, type ConnectionId, type PreparedChange } from "../../../connect/connection.ts";
import { CONNECTABLE_TOOLS } from "../../../tools/all.ts";
import type { Account, ConnectableTool, ToolHost } from "../../../tools/tool.ts";
import { findBaseUrls } from "../../dotfiles/find-base-urls.ts";
import { displayPath } from "../../terminal/format.ts";
import { describeConflict } from "../describe-conflict.ts";
import { connectedEndpoint, readToolHost } from "../local-endpoint.ts";
import { readAccount } from "../paying-account.ts";
import { hasSavedLogin } from "../saved-login.ts";
import { inTense, type Tense } from "./who-pays.ts";

/**
 * Returns what says who pays for a tool once it is disconnected, as far as that is known: nothing where its settings may still point at
 * tollkeeper.
 */
export async function describePayerWithout(
  id: ConnectionId,
  change: PreparedChange,
): Promise<(tense: Tense) => string[]> {
  const tool = CONNECTABLE_TOOLS.find(({ name }) => name === id.tool);
  if (tool === undefined || change.hasOnlyEditedSettings || pointsHere(change, id.tool)) return () => [];
  const host = readToolHost();
  const there = { ...host, directory: id.directory ?? host.directory };
  const ofUser =
    id.scope === "project" && tool.scopes.includes("user") ? await readAccount(tool, there, "user") : null;
  if (ofUser !== null) return (tense) => [sayUserSettingsHold(tool, ofUser, tense)];
  const projects = id.scope === "user" ? projectsOf(id.tool) : [];
  const isSignedIn = await hasSavedLogin(tool, there);
  const obstacle = isSignedIn ? findObstacle(tool, there, id, change) : null;
  return (tense) => [
    sayOwnLoginHolds(tool, isSignedIn, obstacle, tense),
    ...projects.map(
      (directory) =>
        `It ${inTense(tense, "stay", "stays")} connected in ${displayPath(directory, host.home)}.`,
    ),
  ];
}

function pointsHere({ changes }: PreparedChange, tool: string): boolean {
  const urls = changes.flatMap(({ after }) => findBaseUrls(after ?? "", []));
  return urls.some(({ mark }) => mark === `/t/${tool}`);
}

function projectsOf(tool: string): string[] {
  return readConnections(connectionsDirectory()).flatMap(({ id }) =>
    id.tool === tool && id.directory !== null ? [id.directory] : [],
  );
}

/** Returns where something is that the tool follows before its login; null where the login decides. */
function findObstacle(
  tool: ConnectableTool,
  host: ToolHost,
  id: ConnectionId,
  { changes }: PreparedChange,
): string | null {
  const endpoint = connectedEndpoint(tool.name, null, "plan");
  const conflicts = findConflicts(tool, host, endpoint, id.scope, { files: [], remarks: [] }, changes);
  const [first] = conflicts.filter(
    ({ effect, source }) =>
      (effect === "login" || effect === "elsewhere") && (id.scope === "project" || source.kind !== "project"),
  );
  return first === undefined ? null : describeConflict(first, id).where;
}

function sayUserSettingsHold({ title }: ConnectableTool, account: Account, tense: Tense): string {
  const payer = account === "plan" ? "its plan" : "your API key";
  return `In this project, ${title} ${inTense(tense, "follow", "follows")} your user settings again. They connect it to tollkeeper, and ${payer} ${inTense(tense, "pay", "pays")}.`;
}

function sayOwnLoginHolds(
  { title }: ConnectableTool,
  isSignedIn: boolean,
  obstacle: string | null,
  tense: Tense,
): string {
  const uses = inTense(tense, "use", "uses");
  const pays = inTense(tense, "pay", "pays");
  if (isSignedIn && obstacle === null)
    return `${title} ${uses} its own login again, without tollkeeper: the plan that it is signed in with ${pays}.`;
  const own = `${title} ${uses} its own key or login again, if it has one, and no key in tollkeeper ${pays} for it.`;
  return obstacle === null
    ? own
    : `${own} Note that ${obstacle} ${inTense(tense, "come", "comes")} before its login.`;
}
