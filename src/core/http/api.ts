/** The APIs: Messages; Responses; Chat Completions, with completions and embeddings. */
export const APIS = ["messages", "responses", "chat"] as const;

/** An API that a route speaks and an upstream serves. */
export type Api = (typeof APIS)[number];

/** True when an upstream that has these APIs (null: all) serves the requests of one. */
export function servesApi({ apis }: { apis: readonly Api[] | null }, api: Api): boolean {
  return apis === null || apis.includes(api);
}
