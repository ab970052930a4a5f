import type { KeyFailure } from "../core/failure.ts";
import type { Refusal, RefusalCode } from "../core/http/refusal.ts";
import { parseToolName } from "../core/config/names.ts";
import { quietest } from "../core/http/retry-triggers.ts";
import { findOptionalRoute, showPath } from "../core/http/unknown-path.ts";
import type { ToolIdentity } from "../core/identity/tool-identity.ts";
import type { Destinations } from "./settings.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import { toPrintable } from "../core/text/printable.ts";
import { findNearest } from "../core/text/did-you-mean.ts";

// The refusals of requests that are not forwarded. Those that end a round trip are in exchange/limit-refusals.ts.

/** Tests tollkeeper from outside: if it passes, the fault is in the program that sent the request. */
const CHECK = "tollkeeper check";

export const OTHER_USER: Refusal = {
  code: "peer_not_allowed",
  problem: "this port belongs to another user",
  command: "tollkeeper config edit",
  advice: `choose another "listen.port" for a daemon of your own, or ask the port's owner to list your uid in "access.peerUid"`,
  closesConnection: true,
};

/** The refusal for a user whom `export.metrics.peerUid` admits. */
export const METRICS_ONLY: Refusal = {
  code: "peer_not_allowed",
  problem: "your user may only read metrics",
  command: "tollkeeper config edit",
  reason: "GET /_tollkeeper/metrics is all that it is admitted to",
  advice: `to use the proxy, ask the port's owner to list your uid in "access.peerUid"`,
  closesConnection: true,
};

export const PIPELINED: Refusal = {
  code: "pipelined",
  problem: "pipelining is not supported",
  reason: "a connection takes one request at a time",
  advice: "this request was not forwarded and can be sent again",
  command: CHECK,
  closesConnection: true,
};

/** What browsers show or scripts read of ours, under a name in `listen.allowedHosts` (SECURITY.md A16). */
export const LOOPBACK_ONLY: Refusal = {
  code: "host_not_allowed",
  problem: "dashboard and metrics are not available under this host name",
  reason: "other web pages could read them there",
  advice: `use 127.0.0.1, localhost or [::1]`,
  command: "tollkeeper dashboard",
};

/** What is ours, to a browser that does not say which page requests it (SECURITY.md A17). */
export const OLD_BROWSER: Refusal = {
  code: "browser_not_allowed",
  problem: "this browser is too old for the dashboard and metrics",
  reason: "it sends no Fetch Metadata, so it does not say which page asks",
  advice: "use Chrome 76, Firefox 90, Safari 16.4 or newer",
  command: "tollkeeper usage",
};

/** RFC 9110 section 15.5.22 requires `Upgrade` on a 426. The connection is closed, as it could not be reused. */
export const NO_WEBSOCKETS: Refusal = {
  code: "upgrade_not_supported",
  problem: "WebSockets are not supported",
  command: "tollkeeper connect --list",
  headers: ["upgrade", "HTTP/1.1", "connection", "upgrade, close"],
  closesConnection: true,
};

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

/** Longer names of models are not repeated. */
const MAX_SHOWN_MODEL = 60;

/** 404 with the code that both APIs use. None of the tool's upstreams serves the model. */
export function modelNotServed(model: string, destinations: Destinations): Refusal {
  const word = formatCommand([toPrintable(model)]);
  const served = destinations.map(({ upstream: { name, models } }) => `${name}: ${models?.join(" ") ?? "*"}`);
  const [problem, command] = ["no upstream serves the model", "tollkeeper route MODEL"];
  const isShown = word.length <= MAX_SHOWN_MODEL;
  return {
    code: "model_not_found",
    problem: isShown ? quietest(`no upstream serves the model ${word}`, problem) : problem,
    reason: `"models" in the configuration admits ${served.join("; ")}`,
    command: isShown ? quietest(`tollkeeper route ${word}`, command) : command,
  };
}

/** The upstream, or whether the request may leave, depends on the model, and the body cannot be read in one way only. */
export function unreadableModel(fault: string): Refusal {
  return {
    code: "model_unreadable",
    problem: "the model of the request cannot be read",
    reason: fault,
    advice: `the configuration chooses upstreams or limits tools by the model, so the body must be plain JSON with exactly one "model"`,
    command: "tollkeeper route --help",
  };
}

const KEY_REFUSALS: Record<KeyFailure["code"], RefusalCode> = {
  missing: "key_missing",
  locked: "key_locked",
  unavailable: "key_unavailable",
  unresponsive: "key_unresponsive",
  unsafe: "key_unavailable",
};

/** The key is not stored, or its store cannot be read. */
export function noKey({ code, message, hint = "", command }: KeyFailure): Refusal {
  // To store a missing key is all that its hint says.
  if (code === "missing")
    return { code: "key_missing", problem: quietest(message, "the key is not stored"), command };
  // What the command says is said at the end, and a script of several commands by doctor.
  const parts = hint.split("; ");
  const script = parts.findIndex((part) => part.includes("sh -c "));
  const others = parts.slice(0, script === -1 ? undefined : script).filter((part) => !part.includes(command));
  return {
    code: KEY_REFUSALS[code],
    problem: "tollkeeper cannot read the key",
    reason: message,
    ...(others.length > 0 && { advice: others.join("; ") }),
    command,
  };
}

/** What requires a local token: the setting `access`, or a host name in `listen.allowedHosts` that is none of this machine's own. */
export type TokenRule = "access" | "listed name";

const TOKEN_REASONS: Record<TokenRule, string> = {
  access: '"access" in the configuration requires one, and the request has none that is registered',
  "listed name":
    'a host name in "listen.allowedHosts" requires one, because web pages can use such a name, too; the request has none that is registered',
};

/**
 * A rule requires a token, and the request shows no registered one. `claimed` is who the request says it is, and `connectable` the tools
 * whose settings `tollkeeper connect` can write, with a token if `access` requires it.
 */
export function tokenRequired(
  { tool, by }: ToolIdentity,
  connectable: ReadonlySet<string>,
  rule: TokenRule,
): Refusal {
  const problem = "no local token";
  const refusal = { code: "token_required", problem, reason: TOKEN_REASONS[rule] } as const;
  if (rule === "access" && connectable.has(tool)) {
    const advice = "to connect the tool again writes a token into its settings";
    return { ...refusal, advice, command: `tollkeeper connect ${tool}` };
  }
  return {
    ...refusal,
    advice:
      "use a token as the API key, for instance in ANTHROPIC_API_KEY or OPENAI_API_KEY; or start the program with: tollkeeper run -- COMMAND",
    command: `tollkeeper token add ${by === "unknown" ? "NAME" : tool}`,
  };
}
