import type { TypedFormat } from "../usage-format.ts";

/** What formats have in common whose bodies are a JSON document on each line, one for each request of a batch. */
export const LINES = {
  eventTypes: [],
  body: {},
  texts: [],
  hasLists: false,
  hasLines: true,
  isContent: () => false,
} as const satisfies Omit<TypedFormat, "event" | "createCollector">;
