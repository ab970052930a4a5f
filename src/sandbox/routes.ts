import type { Call, Reply } from "./call.ts";
import { ApiError, type Dialect } from "./errors.ts";
import type { AuthScheme } from "./keys.ts";
import { countMessageTokens, createMessage } from "./messages.ts";
import { listModels } from "./models.ts";
import type { PrefixMemory } from "./prefix-memory.ts";
import type { ResponseStore } from "./responses/store.ts";
import { createResponse, fetchResponse } from "./responses.ts";

/** What the routes remember from one request to the next. */
export interface Memories {
  prefixes: PrefixMemory;
  responses: ResponseStore;
}

/** One route of the service, below its base URL. */
export interface Route {
  method: "GET" | "POST";
  path: string;
  scheme: AuthScheme;
  /** Path of the route whose books its tokens stand in. */
  billedTo: string;
  reply: (call: Call, memories: Memories) => Reply;
}

const BASE_PATH = "/v1";
const RESPONSE_BY_ID = /^\/responses\/[^/]+$/;

const MODELS: Route = {
  method: "GET",
  path: "/models",
  scheme: "bearer",
  billedTo: "/models",
  reply: listModels,
};
const RESPONSES: Route = {
  method: "POST",
  path: "/responses",
  scheme: "bearer",
  billedTo: "/responses",
  reply: (call, { prefixes, responses }) => createResponse(call, prefixes, responses),
};
const RESPONSE: Route = {
  method: "GET",
  path: "/responses/{id}",
  scheme: "bearer",
  billedTo: "/responses",
  reply: (call, { responses }) => fetchResponse(call, responses),
};
const MESSAGES: Route = {
  method: "POST",
  path: "/messages",
  scheme: "x-api-key",
  billedTo: "/messages",
  reply: (call, { prefixes }) => createMessage(call, prefixes),
};
const COUNT_TOKENS: Route = {
  method: "POST",
  path: "/messages/count_tokens",
  scheme: "x-api-key",
  billedTo: "/messages/count_tokens",
  reply: countMessageTokens,
};

const ROUTES = [MODELS, RESPONSES, RESPONSE, MESSAGES, COUNT_TOKENS];

/** The API that a request's path belongs to, whether there is such a path or not. */
export function dialectOf(path: string): Dialect {
  return path.startsWith(`${BASE_PATH}/messages`) ? "messages" : "responses";
}

/** @throws ApiError 404 for an unknown path, 405 with `allow` for a wrong method */
export function findRoute(method: string, path: string): Route {
  const below = path.startsWith(`${BASE_PATH}/`) ? path.slice(BASE_PATH.length) : "";
  const wanted = RESPONSE_BY_ID.test(below) ? RESPONSE.path : below;
  const route = ROUTES.find((candidate) => candidate.path === wanted);
  if (route === undefined) throw new ApiError(404, `Invalid URL (${method} ${path})`);
  if (route.method === method) return route;
  throw new ApiError(405, `${path} takes ${route.method}, not ${method}`, {
    code: "method_not_supported",
    headers: { allow: route.method },
  });
}
