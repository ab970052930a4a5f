import { prepareConnection, type Identity, type Prepared } from "../../connect/connection.ts";
import type { Destination, Plan, Recipe } from "../../tools/recipe.ts";
import { connectionsDirectory } from "../../adapters/paths.ts";
import { heldToken, makeToken } from "./connection-token.ts";
import { destinationOf, toolHostInfo } from "./destination.ts";
import type { LocalAddress } from "./local-address.ts";

/** Stands where the token will stand, which is made after the question only. */
const NEW_TOKEN = "a-new-local-token";

/** What connecting a tool would do, worked out and not yet done. */
export interface Proposal {
  baseUrl: string;
  plan: Plan;
  prepared: Prepared;
  /** Does it, and makes the token that is needed for it. @throws Failure, with nothing changed */
  carryOut(): Promise<void>;
}

/**
 * Works out how a tool is led here. A token that it shows already, and that still counts, stays.
 * @param model the one that the person asks for
 * @throws Failure where it cannot be done
 */
export async function propose(
  recipe: Recipe,
  address: LocalAddress,
  identity: Identity,
  model: string | undefined,
): Promise<Proposal> {
  const needsToken = address.config.access.mode === "token";
  const guest = { recipe, tool: recipe.tool };
  const to = await destinationOf(guest, address, needsToken ? NEW_TOKEN : null, model);
  const { baseUrl } = to;
  const { plan, prepared } = planFor(recipe, to, identity);
  if (!JSON.stringify(plan.files).includes(NEW_TOKEN)) {
    return { baseUrl, plan, prepared, carryOut: async () => void prepared.carryOut() };
  }
  const held = heldToken(
    identity,
    prepared.changes.map(({ before }) => before ?? ""),
  );
  if (held === null) {
    return { baseUrl, plan, prepared, carryOut: () => writeWithToken(recipe, to, identity) };
  }
  const same = planFor(recipe, { ...to, credential: held }, identity);
  return { baseUrl, ...same, carryOut: async () => void same.prepared.carryOut() };
}

function planFor(recipe: Recipe, to: Destination, identity: Identity): Pick<Proposal, "plan" | "prepared"> {
  const plan = recipe.plan(toolHostInfo(), to, identity.scope);
  return { plan, prepared: prepareConnection(plan, connectionsDirectory(), identity) };
}

/** A token that got nowhere is taken back; so are those that this connection had before, once none of them is in use. */
async function writeWithToken(recipe: Recipe, to: Destination, identity: Identity): Promise<void> {
  const token = await makeToken(identity);
  try {
    planFor(recipe, { ...to, credential: token.value }, identity).prepared.carryOut();
  } catch (error) {
    await token.revoke();
    throw error;
  }
  await token.revokeOlder();
}
