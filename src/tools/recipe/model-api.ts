import type { ModelApi } from "../tool.ts";

/** Returns the API that serves a model, judged by its name: Messages serves Claude's models, Responses all others. */
export function inferModelApi(model: string): ModelApi {
  return /claude/i.test(model) ? "messages" : "responses";
}

/** The provider of each API, as the AI SDK and the tools built on it call it. */
export const PROVIDERS = { messages: "anthropic", responses: "openai" } as const satisfies Record<
  ModelApi,
  string
>;

/**
 * Returns `PROVIDER/MODEL`, as tools with several providers write it. A model that has a provider is returned as it is.
 */
export function qualifyModel(model: string): string {
  return model.includes("/") ? model : `${PROVIDERS[inferModelApi(model)]}/${model}`;
}
