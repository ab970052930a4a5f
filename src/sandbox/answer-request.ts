import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { answerHeaders } from "./answer-headers.ts";
import { readJsonBody } from "./body.ts";
import { ApiError, errorBody, type Dialect } from "./errors.ts";
import { makeId } from "./ids.ts";
import { findKey, type SandboxKey } from "./keys.ts";
import { dialectOf, findRoute, type Memories, type Route } from "./routes.ts";
import { sendEvents, sendJson, type Outlet } from "./send.ts";
import { NO_SWITCHES, parseSwitches } from "./switches.ts";
import type { Tally } from "./tally.ts";

/** The service behind its socket. */
export interface Service {
  keys: readonly SandboxKey[];
  groups: Readonly<Record<string, readonly string[]>>;
  memories: Memories;
  tally: Tally;
}

/** Answers one request, with an error in its API's shape if need be. Never rejects. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  service: Service,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const path = pathOf(request);
  const dialect = dialectOf(path);
  const requestId = makeId("req");
  const headers = answerHeaders(dialect, requestId);
  const outlet: Outlet = { response, headers, switches: NO_SWITCHES, gone: gone.signal };
  try {
    await answer(request, path, outlet, service);
  } catch (error) {
    if (!gone.signal.aborted) sendError(outlet, dialect, requestId, error);
  }
}

async function answer(
  request: IncomingMessage,
  path: string,
  outlet: Outlet,
  { keys, groups, memories, tally }: Service,
): Promise<void> {
  // Codex turns to POST at once on 426, and only after many tries on anything else.
  if (request.headers.upgrade !== undefined) throw new ApiError(426, "the sandbox speaks no websocket");
  const route = findRoute(request.method ?? "", path);
  const switches = parseSwitches(request.headersDistinct["x-sandbox"]?.join());
  outlet.switches = switches;
  const key = findKey(request.headersDistinct, route.scheme, keys);
  requireVersion(request, route);
  const body = route.method === "POST" ? await readJsonBody(request) : {};
  await wait(switches.delayMs, undefined, { signal: outlet.gone });
  if (switches.errorStatus !== null)
    throw new ApiError(switches.errorStatus, "the sandbox was asked to fail");

  const reply = route.reply({ path, key, models: groups[key.group] ?? [], body, switches }, memories);
  tally.addRequest(key.name, route.path);
  // Billed once begun, whatever becomes of the answer on its way: the real service bills a lost one too.
  if (reply.billed !== undefined) tally.addBilled(key.name, route.billedTo, reply.billed);
  if ("events" in reply) await sendEvents(outlet, reply.events);
  else sendJson(outlet, 200, reply.body);
}

/** The Messages routes want a dated version (the service's section 4.3). */
function requireVersion(request: IncomingMessage, route: Route): void {
  if (route.scheme !== "x-api-key") return;
  const version = request.headersDistinct["anthropic-version"]?.join() ?? "";
  if (/^\d{4}-\d{2}-\d{2}$/.test(version)) return;
  throw new ApiError(400, "anthropic-version: header is required, as YYYY-MM-DD");
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").replace(/\?.*$/s, "");
}

function sendError(outlet: Outlet, dialect: Dialect, requestId: string, thrown: unknown): void {
  if (outlet.response.headersSent) {
    outlet.response.destroy();
    return;
  }
  const error =
    thrown instanceof ApiError ? thrown : new ApiError(500, `the sandbox failed: ${String(thrown)}`);
  const headers = { ...outlet.headers, ...error.headers };
  sendJson({ ...outlet, headers }, error.status, errorBody(dialect, error, requestId));
}
