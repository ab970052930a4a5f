import { existsSync } from "node:fs";
import type { Destination, Recipe, HostInfo } from "../../tools/recipe.ts";
import { chooseModel } from "./choose-model.ts";
import { baseUrlOf, placeholderOf, type LocalAddress } from "./local-address.ts";
import { here } from "../../adapters/paths.ts";

/** Who is to be led here: by which recipe, and under which name in the ledger. */
export interface TargetTool {
  recipe: Recipe;
  tool: string;
}

/** What a tool shows in a key's place: a local token, or, with null, something that is none. */
export type Token = string | null;

/**
 * Where a tool is to be led.
 * @param model the one that the person asks for
 * @throws Failure where it needs a model and none is known
 */
export async function destinationOf(
  guest: TargetTool,
  address: LocalAddress,
  token: Token,
  model: string | undefined,
): Promise<Destination> {
  const { tool } = guest;
  return {
    baseUrl: baseUrlOf(address.port, tool),
    credential: token ?? placeholderOf(tool),
    isToken: token !== null,
    model: await chooseModel(guest, model, address),
  };
}

/** For what does not depend on where a tool is led: where its settings are, and whether it listens to its environment. */
export function anyDestination(tool: string): Destination {
  return { baseUrl: baseUrlOf(0, tool), credential: placeholderOf(tool), isToken: false, model: "any" };
}

/** What decides where tools keep their settings. */
export function toolHostInfo(): HostInfo {
  return { ...here(), directory: process.cwd(), isThere: existsSync };
}
