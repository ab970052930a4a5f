/** The APIs: Messages; Responses; Chat Completions, with completions and embeddings. */
export const APIS = ["messages", "responses", "chat"] as const;

/** An API that a route speaks and an upstream serves. */
export type Api = (typeof APIS)[number];
