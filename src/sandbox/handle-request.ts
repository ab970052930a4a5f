import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { findShape } from "../core/http/api.ts";
import type { ApiRequest, ApiResponse, Call, SandboxState } from "./api.ts";
import { ApiError, bedrockErrorType, errorBody } from "./errors.ts";
import { readUploadStep } from "./gemini/files.ts";
import { readFormOrJson, readJsonBody, readUpload } from "./http/request-body.ts";
import { buildResponseHeaders } from "./http/response-headers.ts";
import {
  keepSilent,
  resetUnanswered,
  sendBytes,
  sendEvents,
  sendJson,
  type PendingResponse,
} from "./http/send-response.ts";
import { makeId } from "./ids.ts";
import { stringOrNull } from "./json.ts";
import { findKey } from "./keys.ts";
import { findSocket } from "./socket.ts";
import { classifyPath, findRoute, type Route } from "./routes.ts";
import { NO_SWITCHES, parseSwitches } from "./switches.ts";

/** Responds to one request. Errors are sent in the shape of the request's API; the promise never rejects. */
export async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  state: SandboxState,
): Promise<void> {
  const clientGone = new AbortController();
  response.once("close", () => clientGone.abort());
  const [, path = "", query] = /^([^?]*)\??(.*)$/s.exec(request.url ?? "") ?? [];
  const vendor = classifyPath(path, state.profile, findShape(request.headers));
  const requestId = makeId("req");
  const headers = buildResponseHeaders(vendor, requestId);
  const { signal } = clientGone;
  const pending: PendingResponse = { response, headers, switches: NO_SWITCHES, clientGone: signal };
  const call = { request, requestId, vendor, path, query: new URLSearchParams(query) };
  try {
    await respond(call, pending, state);
  } catch (error) {
    if (!signal.aborted) sendError(pending, call, error);
  }
}

async function respond(call: Call, pending: PendingResponse, state: SandboxState): Promise<void> {
  const { request, path } = call;
  const { name, profile, keys, groups } = state;
  const isHandshake = request.headers.upgrade !== undefined;
  const route = isHandshake
    ? findSocket(request, path, profile)
    : findRoute(request.method ?? "", path, profile, findShape(request.headers));
  const xSandbox = request.headersDistinct["x-sandbox"]?.join();
  const switches = parseSwitches(xSandbox, { name, defaults: profile.switches });
  pending.switches = switches;
  const scheme = schemeFor(route, call.vendor);
  const key = findKey(request.headersDistinct, scheme, keys);
  requireVersion(request, scheme);
  if ("serve" in route) {
    await wait(switches.delayMs, undefined, { signal: pending.clientGone });
    if (switches.errorStatus !== null)
      throw new ApiError(switches.errorStatus, "the sandbox was asked to fail");
    route.serve(call, pending, { key, switches, models: groups[key.group] ?? [] }, state);
    return;
  }
  const isPost = route.method === "POST" && !(route.mayBeEmpty === true && hasNoBody(request));
  const body = isPost ? await readerFor(route)(request) : {};
  await wait(switches.delayMs, undefined, { signal: pending.clientGone });
  if (switches.errorStatus !== null)
    throw new ApiError(switches.errorStatus, "the sandbox was asked to fail");

  const models = groups[key.group] ?? [];
  const apiRequest = { path, query: call.query, profile, vendor: call.vendor, key, models, body, switches };
  const result = execute(call, route, apiRequest, state);
  if (switches.hang) await keepSilent(pending);
  else if (switches.reset && switches.cutAfter === null) resetUnanswered(pending);
  else if ("events" in result) await sendEvents(pending, result.events);
  else if ("frames" in result) await sendEvents(pending, result.frames, result.type);
  else {
    const whole = { ...pending, headers: { ...pending.headers, ...result.headers } };
    if ("bytes" in result) sendBytes(whole, 200, result.bytes, result.type);
    else sendJson(whole, 200, result.body);
  }
}

function readerFor({ takesForm, keepsFile, takesBytes }: Route): typeof readJsonBody {
  if (takesBytes === true) return readUploadStep;
  if (keepsFile === true) return readUpload;
  return takesForm === true ? readFormOrJson : readJsonBody;
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

/** Carries out a request and enters it in the books before anything is sent: real services also bill responses that never arrive. */
function execute(call: Call, route: Route, apiRequest: ApiRequest, state: SandboxState): ApiResponse {
  const { request, requestId, vendor } = call;
  const { key, body, switches } = apiRequest;
  const result = route.handle(apiRequest, state.routeState);
  state.tally.addExecution({
    requestId,
    clientRequestId: request.headersDistinct["x-client-request-id"]?.join() ?? null,
    key: key.name,
    route: route.path,
    model: stringOrNull(body["model"]),
  });
  if (switches.errorIn200) {
    const error = new ApiError(502, "the sandbox was asked to fail, with status 200");
    return { body: errorBody(vendor, error, requestId) };
  }
  if (result.billed !== undefined) {
    state.tally.addBilled(key.name, route.billedTo ?? route.path, result.billed);
  }
  return result;
}

/** Files are shared: who speaks to Anthropic has its key there. */
function schemeFor(
  { path, scheme }: Pick<Route, "path" | "scheme">,
  vendor: Call["vendor"],
): Route["scheme"] {
  return vendor === "anthropic" && path.startsWith("/files") ? "x-api-key" : scheme;
}

/** The routes with `x-api-key`, Anthropic's own, require a version header with a date. */
function requireVersion(request: IncomingMessage, scheme: Route["scheme"]): void {
  if (scheme !== "x-api-key") return;
  const version = request.headersDistinct["anthropic-version"]?.join() ?? "";
  if (/^\d{4}-\d{2}-\d{2}$/.test(version)) return;
  throw new ApiError(400, "anthropic-version: header is required, as YYYY-MM-DD");
}

function sendError(pending: PendingResponse, { vendor, requestId }: Call, thrown: unknown): void {
  const { response, switches } = pending;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const isOwn = thrown instanceof ApiError;
  const error = isOwn ? thrown : new ApiError(500, `the sandbox failed: ${String(thrown)}`);
  const retryAfter = switches.retryAfter !== null && { "retry-after": String(switches.retryAfter) };
  // AWS knows no 401.
  const status = vendor === "bedrock" && error.status === 401 ? 403 : error.status;
  const type = vendor === "bedrock" && { "x-amzn-errortype": bedrockErrorType(status) };
  const headers = { ...pending.headers, ...error.headers, ...type, ...retryAfter };
  sendJson({ ...pending, headers }, status, errorBody(vendor, error, requestId));
}
