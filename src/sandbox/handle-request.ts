import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { RouteState } from "./api.ts";
import { ApiError, errorBody, type ApiFamily } from "./errors.ts";
import { makeId } from "./ids.ts";
import { findKey, type SandboxKey } from "./keys.ts";
import { readJsonBody } from "./http/request-body.ts";
import { buildResponseHeaders } from "./http/response-headers.ts";
import { classifyPath, findRoute, type Route } from "./routes.ts";
import { sendEvents, sendJson, type PendingResponse } from "./http/send-response.ts";
import { NO_SWITCHES, parseSwitches } from "./switches.ts";
import type { Tally } from "./tally.ts";

/** The state of a running sandbox. */
export interface SandboxState {
  keys: readonly SandboxKey[];
  groups: Readonly<Record<string, readonly string[]>>;
  routeState: RouteState;
  tally: Tally;
}

/** Responds to one request. Errors are sent in the shape of the request's API; the promise never rejects. */
export async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  state: SandboxState,
): Promise<void> {
  const clientGone = new AbortController();
  response.once("close", () => clientGone.abort());
  const path = (request.url ?? "").replace(/\?.*$/s, "");
  const api = classifyPath(path);
  const requestId = makeId("req");
  const headers = buildResponseHeaders(api, requestId);
  const { signal } = clientGone;
  const pending: PendingResponse = { response, headers, switches: NO_SWITCHES, clientGone: signal };
  try {
    await respond(request, path, pending, state);
  } catch (error) {
    if (!signal.aborted) sendError(pending, api, requestId, error);
  }
}

async function respond(
  request: IncomingMessage,
  path: string,
  pending: PendingResponse,
  { keys, groups, routeState, tally }: SandboxState,
): Promise<void> {
  // On 426 Codex falls back to POST at once; on any other status only after many retries.
  if (request.headers.upgrade !== undefined)
    throw new ApiError(426, "the sandbox does not support WebSockets");
  const route = findRoute(request.method ?? "", path);
  const switches = parseSwitches(request.headersDistinct["x-sandbox"]?.join());
  pending.switches = switches;
  const key = findKey(request.headersDistinct, route.scheme, keys);
  requireVersion(request, route);
  const body = route.method === "POST" ? await readJsonBody(request) : {};
  await wait(switches.delayMs, undefined, { signal: pending.clientGone });
  if (switches.errorStatus !== null)
    throw new ApiError(switches.errorStatus, "the sandbox was asked to fail");

  const result = route.handle({ path, key, models: groups[key.group] ?? [], body, switches }, routeState);
  tally.addRequest(key.name, route.path);
  // Billed before it is sent: the real service also bills responses that never arrive.
  if (result.billed !== undefined) tally.addBilled(key.name, route.billedTo ?? route.path, result.billed);
  if ("events" in result) await sendEvents(pending, result.events);
  else sendJson(pending, 200, result.body);
}

/** The Messages routes require a version header with a date. */
function requireVersion(request: IncomingMessage, route: Route): void {
  if (route.scheme !== "x-api-key") return;
  const version = request.headersDistinct["anthropic-version"]?.join() ?? "";
  if (/^\d{4}-\d{2}-\d{2}$/.test(version)) return;
  throw new ApiError(400, "anthropic-version: header is required, as YYYY-MM-DD");
}

function sendError(pending: PendingResponse, api: ApiFamily, requestId: string, thrown: unknown): void {
  if (pending.response.headersSent) {
    pending.response.destroy();
    return;
  }
  const isOwn = thrown instanceof ApiError;
  const error = isOwn ? thrown : new ApiError(500, `the sandbox failed: ${String(thrown)}`);
  const headers = { ...pending.headers, ...error.headers };
  sendJson({ ...pending, headers }, error.status, errorBody(api, error, requestId));
}
