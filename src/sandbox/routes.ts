import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { createChatCompletion } from "./chat.ts";
import { createCompletion } from "./completions.ts";
import { createEmbeddings } from "./embeddings.ts";
import { ApiError, type Vendor } from "./errors.ts";
import type { AuthScheme } from "./keys.ts";
import { countMessageTokens, createMessage } from "./messages.ts";
import { listModels } from "./models.ts";
import type { Profile } from "./profiles.ts";
import { createResponse, fetchResponse } from "./responses.ts";

/** What a route does. Its path is relative to the base URL. */
interface Handler {
  method: "GET" | "POST";
  path: string;
  /** Path of the route under which its tokens are tallied; by default its own. */
  billedTo?: string;
  handle: (request: ApiRequest, state: RouteState) => ApiResponse;
}

/** One route of the service. */
export interface Route extends Handler {
  scheme: AuthScheme;
}

const RESPONSE_PATH = "/responses/{id}";

const HANDLERS: readonly Handler[] = [
  { method: "GET", path: "/models", handle: listModels },
  { method: "POST", path: "/responses", handle: createResponse },
  { method: "GET", path: RESPONSE_PATH, billedTo: "/responses", handle: fetchResponse },
  { method: "POST", path: "/messages", handle: createMessage },
  { method: "POST", path: "/messages/count_tokens", handle: countMessageTokens },
  { method: "POST", path: "/chat/completions", handle: createChatCompletion },
  { method: "POST", path: "/completions", handle: createCompletion },
  { method: "POST", path: "/embeddings", handle: createEmbeddings },
];

/** Returns whose errors and headers the responses for a path have, even for an unknown path. */
export function classifyPath(path: string, { basePath, vendor, messagesVendor }: Profile): Vendor {
  return path.startsWith(`${basePath}/messages`) ? messagesVendor : vendor;
}

/** Returns the route of a request. @throws ApiError 404 for an unknown path, 405 with `allow` for a wrong method */
export function findRoute(method: string, path: string, { basePath, routes }: Profile): Route {
  const relative = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : "";
  const routePath = relative.replace(/^\/responses\/[^/]+$/, RESPONSE_PATH);
  const scheme = routes[routePath];
  const handler = HANDLERS.find((candidate) => candidate.path === routePath);
  if (handler === undefined || scheme === undefined)
    throw new ApiError(404, `Invalid URL (${method} ${path})`);
  if (handler.method === method) return { ...handler, scheme };
  throw new ApiError(405, `${path} accepts ${handler.method}, not ${method}`, {
    code: "method_not_supported",
    headers: { allow: handler.method },
  });
}
