import type { Environment, Recipe } from "../../tools/recipe.ts";
import { Failure } from "../../core/failure.ts";
import { anyDestination, destinationOf, toolHostInfo, type TargetTool, type Token } from "./destination.ts";
import type { LocalAddress } from "./local-address.ts";

/** Throws a Failure where a tool listens to neither its environment nor to flags: before anything is looked for in vain. */
export function requireEnvironment({ recipe, tool }: TargetTool): void {
  if (recipe.environment(toolHostInfo(), anyDestination(tool)) === null) throw listensToNothing(recipe);
}

/**
 * The variables and flags that lead a tool here.
 * @param model the one that the person asks for
 * @throws Failure where it listens to neither, or needs a model and none is known
 */
export async function environmentFor(
  guest: TargetTool,
  address: LocalAddress,
  token: Token,
  model: string | undefined,
): Promise<Environment> {
  const { recipe } = guest;
  const to = await destinationOf(guest, address, token, model);
  const environment = recipe.environment(toolHostInfo(), to);
  if (environment === null) throw listensToNothing(recipe);
  return environment;
}

function listensToNothing({ title, tool, scopes }: Recipe): Failure {
  const hint =
    scopes.length === 0
      ? `see what to do there by hand: tollkeeper connect ${tool} --print`
      : `connect it instead: tollkeeper connect ${tool}`;
  return new Failure(`${title} listens neither to its environment nor to flags`, hint);
}
