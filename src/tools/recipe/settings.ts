import type { LocalEndpoint, ModelApi } from "../tool.ts";

/** The purposes that settings of several tools share, as `connect` prints them. */
export const PURPOSE = {
  baseUrl: "requests go to tollkeeper, with the tool's name in the path",
  model: "the model to use",
  provider: "selects the tollkeeper provider",
  required: "the tool rejects a file without it",
};

/** Returns the purpose of the setting that holds the credential. */
export function credentialPurpose({ isToken }: LocalEndpoint): string {
  return isToken
    ? "the local token that tollkeeper requires"
    : "a placeholder, because the tool requires a key";
}

/** The provider of each API, as the AI SDK and the tools built on it call it. */
export const PROVIDERS = { messages: "anthropic", responses: "openai" } as const;

/** True for the provider of one of the APIs. */
export function isOwnProvider(provider: string): boolean {
  return Object.values<string>(PROVIDERS).includes(provider);
}

/** Returns `PROVIDER/MODEL`; a model that has a provider already as it is. */
export function qualifyModel(model: string): string {
  return model.includes("/") ? model : `${PROVIDERS[inferModelApi(model)]}/${model}`;
}

/** Returns the API that serves a model, judged by its name: Messages serves Claude's models, Responses all others. */
export function inferModelApi(model: string): ModelApi {
  return /claude/i.test(model) ? "messages" : "responses";
}
