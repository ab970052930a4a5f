import { parseToolName } from "../config/names.ts";
import { checkRoutePath } from "../config/string-rules.ts";
import { METHODS } from "../http/api.ts";
import { isLikeBedrock } from "../http/bedrock/model-path.ts";
import { readModelPath } from "../http/gemini/model-path.ts";
import { isStorage } from "../policy/tool-policy.ts";
import { sanitizeText } from "../config/problem.ts";
import { findNearest } from "../text/did-you-mean.ts";
import { formatCommand } from "../text/shell-words.ts";
import { postCommand } from "./admission.ts";
import type { Refusal } from "./refusal.ts";
import { quietest } from "./retry-triggers.ts";

/** Long enough for any endpoint, and short enough for a line. */
const MAX_SHOWN = 80;

/** First words of endpoints that tools are known to request, also without `/v1`, and that are not forwarded by default. */
const FAMILIES = new Set(["audio", "batches", "files", "images", "uploads", "vector_stores", "videos"]);

/** Endpoints that take a form with files, by the API reference of OpenAI. */
const FORMS = new Set([
  "/audio/transcriptions",
  "/audio/translations",
  "/files",
  "/images/edits",
  "/images/variations",
  "/uploads/{id}/parts",
]);

/** A segment that names a thing and no endpoint: `file-abc123`, `batch_68a`, a UUID. No word of an endpoint has a digit. */
const LIKE_ID = /^[\w.~:-]*\d[\w.~:-]*$/;

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

/** Returns the entry of `routes` in the configuration that would forward a request, as JSON; null where none can. */
function proposeRoute(method: string, url: string): string | null {
  const [whole = ""] = url.split(/[?#]/, 1);
  const below = whole.replace(/^(?:\/v1){1,2}(?=\/)/, "");
  const words = below.slice(1).split("/");
  if (below === whole && !FAMILIES.has(words[0] ?? "")) return null;
  const path = `/${words.map((word) => (LIKE_ID.test(word) ? "{id}" : word)).join("/")}`;
  const isRoute = METHODS.some((known) => known === method) && path.length <= MAX_SHOWN;
  // What looks like a key is shown nowhere.
  if (!isRoute || checkRoutePath(path) !== null || sanitizeText(path) !== path) return null;
  const auth = path.startsWith("/messages") ? "x-api-key" : "bearer";
  const accepts = method === "POST" && FORMS.has(path) ? { accepts: ["multipart"] } : {};
  const dialect = /^\/(?:images|audio)\/\w+$/.test(path) ? "media" : "none";
  return JSON.stringify({ method, path, auth, dialect, ...accepts });
}

const LIST = "tollkeeper connect --list";

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

/** Any other path (docs/websocket.md). */
export const NO_WEBSOCKETS: Refusal = {
  ...noWebSocket("this path has no WebSocket", "only /v1/responses and Google's Live API have one", CHECK),
  advice: "set the program to use POST here",
};

/** The path of Google's Live API, where no upstream has it. */
export const NO_LIVE_API: Refusal = {
  ...noWebSocket("no upstream serves Google's Live API", undefined, "tollkeeper setup"),
  advice: `add one with "apis": ["gemini"] and "websocket": "auto"`,
};

/**
 * 426, at which tools go on with POST: the one status at which Codex does so at once (docs/websocket.md). RFC 9110 section 15.5.22 requires
 * `Upgrade`. The connection is closed, as it could not be reused.
 */
export function noWebSocket(problem: string, reason?: string, command: string = LIST): Refusal {
  return {
    code: "upgrade_not_supported",
    problem,
    reason,
    command,
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
  const google = readModelPath(path.split("?", 1)[0] ?? "");
  if (google !== null)
    return {
      ...refusal,
      advice: `no upstream serves Google's API: add one with "apis": ["gemini"], or choose the tool's OpenAI-compatible provider`,
      command: "tollkeeper setup",
    };
  if (isLikeBedrock(path.split("?", 1)[0] ?? ""))
    return {
      ...refusal,
      advice: `for Amazon Bedrock, an upstream needs "apis": ["bedrock"], and the path has to name one model clearly; guardrails are not forwarded`,
      command: "tollkeeper setup",
    };
  const nearest = isStorage({ path }) ? null : findNearest(`${method} ${path}`, ROUTES);
  if (nearest !== null) return { ...refusal, advice: `did you mean ${nearest}?`, command: LIST };
  const route = proposeRoute(method, path);
  if (route === null)
    return {
      ...refusal,
      advice: `the main routes are ${ROUTES.join(", ")}, each also under /t/TOOL`,
      command: LIST,
    };
  return {
    ...refusal,
    advice: `to forward it, add ${route} to "routes" of the upstream; tollkeeper cannot know what it costs`,
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

const ROUTES = [
  "GET /v1/models",
  "POST /v1/responses",
  "POST /v1/messages",
  "POST /v1/messages/count_tokens",
  "POST /v1/chat/completions",
  "POST /v1/completions",
  "POST /v1/embeddings",
];

/** 400: a body with a method whose bodies have no meaning (RFC 9110 sections 9.3.1 and 9.3.5). */
export function noBodyAllowed(method: string): Refusal {
  return { code: "bad_request", problem: `a ${method} must not have a body`, command: CHECK };
}

export const INTERNAL: Refusal = {
  code: "internal",
  problem: "tollkeeper failed by a fault of its own",
  advice:
    "the daemon's log has it; without the service, that is the terminal in which the daemon was started",
  command: "tollkeeper service logs",
};

/** 405: the path exists for other methods. `url` is the request's own, for the command that sends it as it should be; null where it is not known. */
export function wrongMethod(method: string, path: string, allowed: string, url: string | null): Refusal {
  const isPost = allowed.includes("POST");
  return {
    code: "method_not_allowed",
    problem: quietest(
      `${showPath(path)} accepts only ${allowed}, not ${method}`,
      `the path accepts only ${allowed}`,
    ),
    ...(isPost && { advice: "put the body into a file, such as body.json" }),
    command: url === null ? CHECK : isPost ? postCommand(url) : formatCommand(["curl", quietest(url, "URL")]),
    headers: ["allow", allowed],
  };
}
