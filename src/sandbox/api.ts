import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../core/json.ts";
import type { Vendor } from "./errors.ts";
import type { SandboxKey } from "./keys.ts";
import type { Storage } from "./files/storage.ts";
import type { PromptCache } from "./generation/prompt-cache.ts";
import type { Profile } from "./profiles.ts";
import type { ResponseStore } from "./responses/store.ts";
import type { Switches } from "./switches.ts";
import type { BilledTokens, Tally } from "./tally.ts";

/** An authenticated request with a JSON body. */
export interface ApiRequest {
  path: string;
  query: URLSearchParams;
  profile: Profile;
  vendor: Vendor;
  key: SandboxKey;
  /** Names of the models that the key may use. */
  models: readonly string[];
  /** Empty for a request without one. Of a form, its texts, and the sizes of its files. */
  body: JsonObject;
  switches: Switches;
}

/** What the requests on a WebSocket have of its handshake. */
export type SocketClient = Pick<ApiRequest, "key" | "switches" | "models">;

/** What the routes remember from one request to the next. */
export interface RouteState {
  promptCache: PromptCache;
  responses: ResponseStore;
  storage: Storage;
}

/**
 * A successful response: a JSON body, other bytes with their type, or the events or binary frames of a stream, each in its form on the
 * wire, when the request asked for one. `billed` is absent if it is free. `headers` are those of its own.
 */
export type ApiResponse = (
  | { body: JsonObject }
  | { events: string[] }
  | { frames: readonly Buffer[]; type: string }
  | { bytes: Buffer; type: string }
) & {
  billed?: BilledTokens;
  headers?: Readonly<Record<string, string>>;
};

/** The state of a running sandbox. */
export interface SandboxState {
  name: string;
  profile: Profile;
  keys: readonly SandboxKey[];
  groups: Readonly<Record<string, readonly string[]>>;
  routeState: RouteState;
  tally: Tally;
}

/** A request as it arrived. */
export interface Call {
  request: IncomingMessage;
  requestId: string;
  vendor: Vendor;
  path: string;
  query: URLSearchParams;
}
