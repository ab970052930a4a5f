import { isDeepStrictEqual } from "node:util";
import { createKeychain } from "../../adapters/keychain/keychain.ts";
import { prepareConnection, readConnections, type Identity } from "../../connect/connection.ts";
import type { Destination, Recipe, Scope } from "../../connect/recipe.ts";
import { Failure } from "../../core/failure.ts";
import { decide, showChanges, type ChangeOptions, type Decision } from "./change-of-files.ts";
import { planKeyMove, type KeyMove } from "./key-move.ts";
import { makeToken } from "./connection-token.ts";
import { note, print } from "../console.ts";
import { notifyDaemon } from "../daemon.ts";
import { destinationOf, toolSurroundings } from "./destination.ts";
import { shorten } from "../doctor/remedies.ts";
import type { LocalAddress } from "./local-address.ts";
import { connectionsDirectory, here } from "../paths.ts";

/** Stands where the token will stand, which is made after the question only. */
const NEW_TOKEN = "a-new-local-token";

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
  const needsToken = address.config.access.mode === "token";
  const guest = { recipe, tool: recipe.tool };
  const to = await destinationOf(guest, address, needsToken ? NEW_TOKEN : null, model);
  const plan = recipe.plan(toolSurroundings(), to, scope);
  const prepared = prepareConnection(plan, connectionsDirectory(), identity);
  if (prepared.isUnchanged) {
    print(`${recipe.title} is connected already: ${to.baseUrl}`);
    return "done";
  }
  const move = await planKeyMove(prepared.keys, recipe.tool, address.config, createKeychain());
  showChanges(prepared);
  if (move !== null) print(move.words);
  const decision = await decide(questionFor(recipe, move), options);
  if (decision !== "done") return decision;
  if (move !== null) await storeKey(move);
  if (needsToken) await writeWithToken(recipe, to, identity);
  else prepared.carryOut();
  tellWritten(identity);
  for (const remark of plan.remarks) print(remark);
  tellConnected(recipe, identity, address);
  return "done";
}

/** Which connection is meant where the person stands. */
export function identityOf(tool: string, scope: Scope): Identity {
  return { tool, scope, directory: scope === "project" ? toolSurroundings().directory : null };
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

/** A token that got nowhere is taken back; so are those that this connection had before, once none of them is in use. */
async function writeWithToken(recipe: Recipe, to: Destination, identity: Identity): Promise<void> {
  const token = await makeToken(identity);
  const plan = recipe.plan(toolSurroundings(), { ...to, credential: token.value }, identity.scope);
  try {
    prepareConnection(plan, connectionsDirectory(), identity).carryOut();
  } catch (error) {
    await token.revoke();
    throw error;
  }
  await token.revokeOlder();
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
