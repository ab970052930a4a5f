import { parseToolName } from "../config/names.ts";
import { sanitizeText } from "../config/problem.ts";
import { findNearest } from "../text/did-you-mean.ts";
import type { Refusal } from "./refusal.ts";
import { quietest } from "./retry-triggers.ts";

/** Long enough for any endpoint, and short enough for a line. */
const MAX_SHOWN = 80;

/**
 * Endpoints that tools are known to request and that are not forwarded by default. All take JSON, so that `routes` in the
 * configuration can add them; their usage is not read.
 */
const JSON_ENDPOINT = /^(?:\/v1){0,2}(\/(?:moderations|rerank|images\/generations|audio\/speech))$/;

/** No path of an API has them. In a message they could act as markup or terminal controls (SECURITY.md A7, E3). */
const UNUSUAL = /[^\w/.~%:@+,=-]/g;

/** Shortens a client's path for a message, without its query, what looks like a key, and unusual characters. */
export function showPath(url: string): string {
  const [path = ""] = url.split(/[?#]/, 1);
  // The absolute form may contain a password.
  if (!path.startsWith("/")) return "an invalid path";
  const shown = sanitizeText(path.replaceAll(UNUSUAL, "?"));
  return shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN)}...`;
}

/** Returns the path that `routes` in the configuration would need for this request to be forwarded; null when unknown. */
export function findOptionalRoute(method: string, path: string): string | null {
  return method === "POST" ? (JSON_ENDPOINT.exec(path)?.[1] ?? null) : null;
}

/** Tests tollkeeper from outside: if it passes, the fault is in the program that sent the request. */
const CHECK = "tollkeeper check";

export const PIPELINED: Refusal = {
  code: "pipelined",
  problem: "pipelining is not supported",
  reason: "a connection takes one request at a time",
  advice: "this request was not forwarded and can be sent again",
  command: CHECK,
  closesConnection: true,
};

export const NO_WEBSOCKETS = noWebSocket("WebSockets are not supported");

/**
 * 426, at which tools go on with POST: the one status at which Codex does so at once (docs/websocket.md). RFC 9110 section 15.5.22 requires
 * `Upgrade`. The connection is closed, as it could not be reused.
 */
export function noWebSocket(problem: string, reason?: string): Refusal {
  return {
    code: "upgrade_not_supported",
    problem,
    reason,
    command: "tollkeeper connect --list",
    headers: ["upgrade", "HTTP/1.1", "connection", "upgrade, close"],
    closesConnection: true,
  };
}

/** 400: the handshake of a WebSocket. */
export function badHandshake(problem: string): Refusal {
  return { code: "bad_request", problem, command: CHECK, closesConnection: true };
}

/** 404. `path` is what the client requested. If it can be forwarded, the advice says how. */
export function noRoute(method: string, path: string): Refusal {
  const asked = `${method} ${showPath(path)}`;
  const problem = quietest(`there is no route ${asked}`, "there is no such route");
  const refusal = { code: "not_found", problem } as const;
  const named = findNamed(method, path);
  if (named !== null)
    return { ...refusal, advice: `the name of a tool is missing: did you mean ${named}?`, command: LIST };
  const corrected = correctToolName(path);
  if (corrected !== null)
    return {
      ...refusal,
      advice: `a tool's name has only a-z, 0-9, ".", "_" and "-": did you mean ${method} ${corrected}?`,
      command: LIST,
    };
  const optional = findOptionalRoute(method, path);
  if (optional === null) {
    const nearest = findNearest(`${method} ${path}`, ROUTES);
    const advice =
      nearest === null
        ? `the built-in routes are ${ROUTES.join(", ")}, each also under /t/TOOL`
        : `did you mean ${nearest}?`;
    return { ...refusal, advice, command: LIST };
  }
  const route = JSON.stringify({ method, path: optional, auth: "bearer", dialect: "none" });
  return {
    ...refusal,
    advice: `to forward it, add ${route} to "routes" of the upstream; its tokens are not counted`,
    command: "tollkeeper config edit",
  };
}

/** Returns the route that was meant by a path below `/t` that lacks the tool's name: `POST /t/NAME/v1/messages`. */
function findNamed(method: string, path: string): string | null {
  const [, version, below = ""] = /^\/t\/+(v\d\w*(?=\/|$))?\/?([^?#]*)/i.exec(path) ?? [];
  const isRoute = ROUTES.includes(`${method} /v1/${below}`);
  if (isRoute) return `${method} /t/NAME/v1/${below}`;
  return version === undefined ? null : "a base URL such as http://127.0.0.1:8655/t/NAME/v1";
}

/** Returns a path below `/t` with a name that a tool can have in place of one such as `Claude%20Code`; null if it has one, or none can be made. */
function correctToolName(path: string): string | null {
  const [, named = "", below = ""] = /^\/t\/([^/?#]+)([^?#]*)/.exec(path) ?? [];
  if (named === "" || parseToolName(named) !== null) return null;
  const words = named.replaceAll(/%[0-9a-f]{2}/gi, " ").toLowerCase();
  const name = parseToolName(words.trim().replaceAll(/[^a-z0-9._-]+/g, "-"));
  return name === null ? null : `/t/${name}${below === "" ? "" : showPath(below)}`;
}

const LIST = "tollkeeper connect --list";

const ROUTES = [
  "GET /v1/models",
  "POST /v1/responses",
  "POST /v1/messages",
  "POST /v1/messages/count_tokens",
  "POST /v1/chat/completions",
  "POST /v1/completions",
  "POST /v1/embeddings",
];

export const BODY_OF_GET: Refusal = {
  code: "bad_request",
  problem: "a GET must not have a body",
  command: CHECK,
};

export const INTERNAL: Refusal = {
  code: "internal",
  problem: "tollkeeper failed by a fault of its own",
  advice:
    "the daemon's log has it; without the service, that is the terminal in which the daemon was started",
  command: "tollkeeper service logs",
};

/** 405: the path exists for other methods. */
export function wrongMethod(allowed: string): Refusal {
  return {
    code: "method_not_allowed",
    problem: `this route accepts only ${allowed}`,
    command: "tollkeeper connect --list",
    headers: ["allow", allowed],
  };
}
