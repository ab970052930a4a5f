import { isDeepStrictEqual } from "node:util";
import { createKeychain } from "../../adapters/keychain.ts";
import { readConnections, type Identity } from "../../connect/connection.ts";
import type { Recipe, Scope } from "../../tools/recipe.ts";
import { Failure } from "../../core/failure.ts";
import { decide, showChanges, type ChangeOptions, type Decision } from "./change-of-files.ts";
import { planKeyMove, type KeyMove } from "./key-move.ts";
import { note, print } from "../terminal/console.ts";
import { notifyDaemon } from "../../daemon/client.ts";
import { toolHostInfo } from "./destination.ts";
import { shorten } from "../hints.ts";
import type { LocalAddress } from "./local-address.ts";
import { propose } from "./proposal.ts";
import { warningsOf } from "./rivals-in-files.ts";
import { connectionsDirectory, here } from "../../adapters/paths.ts";

/** What the person wants of a connection, or of several. */
export interface ConnectOptions extends ChangeOptions {
  scope: Scope;
  /** The model to use; undefined for one that fits. */
  model: string | undefined;
}

/**
 * Leads one tool here: shows what that changes, asks, and does it.
 * @throws Failure where it cannot be done; nothing of the tool's has been changed then
 */
export async function connectTool(
  recipe: Recipe,
  address: LocalAddress,
  { scope, model, ...options }: ConnectOptions,
): Promise<Decision> {
  refuseScope(recipe, scope);
  const identity = identityOf(recipe.tool, scope);
  const { baseUrl, plan, prepared, carryOut } = await propose(recipe, address, identity, model);
  for (const warning of warningsOf(plan, prepared)) note(`warning: ${warning}`);
  if (prepared.isUnchanged) {
    print(`${recipe.title} is connected already: ${baseUrl}`);
    return "done";
  }
  const move = await planKeyMove(prepared.keys, recipe.tool, address.config, createKeychain());
  showChanges(prepared);
  if (move !== null) print(move.words);
  const decision = await decide(questionFor(recipe, move), options);
  if (decision !== "done") return decision;
  if (move !== null) await storeKey(move);
  await carryOut();
  tellWritten(identity);
  for (const remark of plan.remarks) print(remark);
  tellConnected(recipe, identity, address);
  return "done";
}

/** Which connection is meant where the person stands. */
export function identityOf(tool: string, scope: Scope): Identity {
  return { tool, scope, directory: scope === "project" ? toolHostInfo().directory : null };
}

function refuseScope({ title, tool, scopes }: Recipe, scope: Scope): void {
  if (scopes.includes(scope)) return;
  const hint =
    scopes.length === 0
      ? `see what to do there by hand: tollkeeper connect ${tool} --print`
      : `connect it with: ${scopes.map((known) => `--scope ${known}`).join(" or ")}`;
  const what = scopes.length === 0 ? "no settings that could be written for it" : "no settings of that scope";
  throw new Failure(`${title} has ${what}`, hint);
}

function questionFor({ title }: Recipe, move: KeyMove | null): string {
  const first = move === null || move.isStored ? "" : "move the key into the keychain, and ";
  return `${first}connect ${title}?`;
}

async function storeKey(move: KeyMove): Promise<void> {
  await move.store();
  if (!move.isStored) await notifyDaemon("keys-changed");
}

function tellWritten(identity: Identity): void {
  const { home } = here();
  const made = readConnections(connectionsDirectory()).find((one) =>
    isDeepStrictEqual(one.identity, identity),
  );
  for (const { path, backup, isBlotted } of made?.files ?? []) {
    const like = isBlotted ? "as it was before, but for its keys" : "as it was before";
    print(`wrote ${shorten(path, home)}${backup === null ? "" : `; ${like}: ${shorten(backup, home)}`}`);
  }
}

function tellConnected(
  { title, tool }: Recipe,
  { scope }: Identity,
  { config, port, isRunning }: LocalAddress,
): void {
  const which = scope === "user" ? "" : ` --scope ${scope}`;
  print(`${title} is connected; undo it with: tollkeeper disconnect ${tool}${which}`);
  if (!isRunning) {
    note("note: tollkeeper is not running; start it with: tollkeeper service install; or: tollkeeper serve");
  } else if (config.listen.port === 0) {
    note(
      `note: the next start may choose another port than ${port}; settle on one with: tollkeeper config edit`,
    );
  }
}
