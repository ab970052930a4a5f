import type { JsonObject } from "../core/json.ts";
import type { SandboxKey } from "./keys.ts";
import type { PromptCache } from "./generation/prompt-cache.ts";
import type { ResponseStore } from "./responses/store.ts";
import type { Switches } from "./switches.ts";
import type { BilledTokens } from "./tally.ts";

/** An authenticated request with a JSON body. */
export interface ApiRequest {
  path: string;
  key: SandboxKey;
  /** Names of the models that the key may use. */
  models: readonly string[];
  /** Empty for a GET. */
  body: JsonObject;
  switches: Switches;
}

/** What the routes remember from one request to the next. */
export interface RouteState {
  promptCache: PromptCache;
  responses: ResponseStore;
}

/** The data of one event of a stream. Its `type` is also the event's name. */
export interface StreamEvent extends JsonObject {
  type: string;
}

/** A successful response: a JSON body, or a stream when the request asked for one. `billed` is absent if it is free. */
export type ApiResponse = ({ body: JsonObject } | { events: StreamEvent[] }) & { billed?: BilledTokens };

/** Returns the stream up to its first piece of content, or without its last event if it has none, followed by `errors`. */
export function failStream(events: readonly StreamEvent[], errors: readonly StreamEvent[]): StreamEvent[] {
  const first = events.findIndex(({ type }) => type === "content_block_delta" || type.endsWith(".delta"));
  return [...events.slice(0, first === -1 ? -1 : first + 1), ...errors];
}
