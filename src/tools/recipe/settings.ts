import type { SharedApi } from "../../core/http/api.ts";
import type { LocalEndpoint } from "../tool.ts";

/** The purposes that settings of several tools share, as `connect` prints them. */
export const PURPOSE = {
  baseUrl: "requests go to tollkeeper, with the tool's name in the path",
  model: "the model to use",
  provider: "selects the tollkeeper provider",
  required: "the tool rejects a file without it",
  usage: "asks the service to report the tokens of streams; without it they are unknown",
};

/** The remedy for streams without usage of a tool that asks for it (docs/wire.md section 7). */
export const UPDATE_SERVICE = "update the model server, which left out the usage that the tool asks for";

/** Returns the purpose of the setting that holds the credential. */
export function credentialPurpose({ isToken }: LocalEndpoint): string {
  return isToken
    ? "the local token that tollkeeper requires"
    : "a placeholder, not a real key: the tool requires one, and tollkeeper puts yours in its place";
}

/** The provider of each API, as the AI SDK and the tools built on it call it. That of Chat Completions is one we add. */
export const PROVIDERS = { messages: "anthropic", responses: "openai", chat: "tollkeeper" } as const;

/** All APIs, in the order in which the models that they serve are preferred. */
export const MODEL_APIS: readonly SharedApi[] = ["messages", "responses", "chat"];

/** True for the provider of one of the APIs. */
export function isOwnProvider(provider: string): boolean {
  return Object.values<string>(PROVIDERS).includes(provider);
}

/** Returns `PROVIDER/MODEL`; a model that has one of the providers already as it is. */
export function qualifyModel(
  model: string,
  providers: Readonly<Record<SharedApi, string>> = PROVIDERS,
): string {
  const [first = ""] = model.split("/", 1);
  const isQualified = model !== first && Object.values(providers).includes(first);
  return isQualified ? model : `${providers[inferModelApi(model)]}/${model}`;
}

/**
 * Returns the API that serves a model, judged by its name: Messages serves Claude's models, Responses OpenAI's, and Chat
 * Completions all others, among them the models of OpenAI that anyone can serve.
 */
export function inferModelApi(model: string): SharedApi {
  if (/claude/i.test(model)) return "messages";
  return /(?:^|\/)(?:gpt-\d|chatgpt|codex|o\d)/i.test(model) ? "responses" : "chat";
}
