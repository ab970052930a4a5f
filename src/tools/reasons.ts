import type { Destination } from "./recipe.ts";

/** What settings are for, where several tools have the same. */
export const ADDRESS = "requests go to tollkeeper, with the tool's name in the path";

/** Of what goes in a key's place. */
export function credentialReason({ isToken }: Destination): string {
  return isToken ? "the local token that tollkeeper asks for" : "a placeholder, because the tool wants a key";
}

export const MODEL = "the model to use";

export const PROVIDER = "chooses the provider that leads here";

export const WANTED = "the tool refuses a file without it";
