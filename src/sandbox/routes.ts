import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { ApiError, type ApiFamily } from "./errors.ts";
import type { AuthScheme } from "./keys.ts";
import { countMessageTokens, createMessage } from "./messages.ts";
import { listModels } from "./models.ts";
import { createResponse, fetchResponse } from "./responses.ts";

/** One route of the service. Its path is relative to the base URL. */
export interface Route {
  method: "GET" | "POST";
  path: string;
  scheme: AuthScheme;
  /** Path of the route under which its tokens are tallied; by default its own. */
  billedTo?: string;
  handle: (request: ApiRequest, state: RouteState) => ApiResponse;
}

const BASE_PATH = "/v1";
const RESPONSE_PATH = "/responses/{id}";

const ROUTES: readonly Route[] = [
  { method: "GET", path: "/models", scheme: "bearer", handle: listModels },
  { method: "POST", path: "/responses", scheme: "bearer", handle: createResponse },
  { method: "GET", path: RESPONSE_PATH, scheme: "bearer", billedTo: "/responses", handle: fetchResponse },
  { method: "POST", path: "/messages", scheme: "x-api-key", handle: createMessage },
  { method: "POST", path: "/messages/count_tokens", scheme: "x-api-key", handle: countMessageTokens },
];

/** Returns the API that a path belongs to, even for an unknown path. */
export function classifyPath(path: string): ApiFamily {
  return path.startsWith(`${BASE_PATH}/messages`) ? "messages" : "responses";
}

/** Returns the route of a request. @throws ApiError 404 for an unknown path, 405 with `allow` for a wrong method */
export function findRoute(method: string, path: string): Route {
  const relative = path.startsWith(`${BASE_PATH}/`) ? path.slice(BASE_PATH.length) : "";
  const routePath = relative.replace(/^\/responses\/[^/]+$/, RESPONSE_PATH);
  const route = ROUTES.find((candidate) => candidate.path === routePath);
  if (route === undefined) throw new ApiError(404, `Invalid URL (${method} ${path})`);
  if (route.method === method) return route;
  throw new ApiError(405, `${path} accepts ${route.method}, not ${method}`, {
    code: "method_not_supported",
    headers: { allow: route.method },
  });
}
