/** An API that every tool with models of both kinds speaks. */
export type ModelApi = "messages" | "responses";

/** The API that serves a model, as far as its name tells: Messages has Claude's models, Responses all others. */
export function apiOfModel(model: string): ModelApi {
  return /claude/i.test(model) ? "messages" : "responses";
}

/** What the AI SDK and the tools built on it call the two. */
export const PROVIDERS = { messages: "anthropic", responses: "openai" } as const satisfies Record<
  ModelApi,
  string
>;

/** `anthropic/claude-sonnet-5`: how tools with several providers write a model; one that names its provider stays. */
export function withProvider(model: string): string {
  return model.includes("/") ? model : `${PROVIDERS[apiOfModel(model)]}/${model}`;
}
