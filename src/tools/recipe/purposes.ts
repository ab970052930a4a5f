import type { LocalEndpoint } from "../tool.ts";

/** The purposes that settings of several tools share, as `connect` prints them. */
export const PURPOSE = {
  baseUrl: "requests go to tollkeeper, with the tool's name in the path",
  model: "the model to use",
  provider: "chooses the provider that leads here",
  required: "the tool refuses a file without it",
};

/** Returns the purpose of the setting that holds the credential. */
export function credentialPurpose({ isToken }: LocalEndpoint): string {
  return isToken ? "the local token that tollkeeper asks for" : "a placeholder, because the tool wants a key";
}
