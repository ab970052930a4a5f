import type { Environment } from "../../connect/recipe.ts";
import { Failure } from "../../core/failure.ts";
import { destinationOf, toolSurroundings, type Guest, type Token } from "./destination.ts";
import type { LocalAddress } from "./local-address.ts";

/**
 * The variables and flags that lead a tool here.
 * @param model the one that the person asks for
 * @throws Failure where it listens to neither, or needs a model and none is known
 */
export async function environmentFor(
  guest: Guest,
  address: LocalAddress,
  token: Token,
  model: string | undefined,
): Promise<Environment> {
  const { recipe } = guest;
  const to = await destinationOf(guest, address, token, model);
  const environment = recipe.environment(toolSurroundings(), to);
  if (environment !== null) return environment;
  throw new Failure(
    `${recipe.title} listens neither to its environment nor to flags`,
    `connect it instead: tollkeeper connect ${recipe.tool}`,
  );
}
