import type { IncomingMessage } from "node:http";
import type { HeaderIndex } from "../core/header-index.ts";
import { Refused } from "../core/refusal.ts";
import { isProbe, parseTarget, type RouteMatch } from "../core/routes.ts";
import { identifyTool, withToken } from "../core/tool.ts";
import { Caller, type Peer } from "./caller.ts";
import type { Settings } from "./settings.ts";

/** What is known of a request once it is admitted and has a route. */
export interface Routed {
  caller: Caller;
  match: RouteMatch;
  query: string;
}

/** What is known of who sends a request, beside what its headers say. */
export interface Sender {
  peer: Peer;
  /** The tool whose registered token the request shows; null where it shows none. */
  owner: string | null;
}

/**
 * Names the tool and finds the route among those of the tool's upstream; null for a probe, which is answered here, with a
 * token or without: tools send it before they know of any credential (facts/clients.md 1.9).
 */
export function findRoute(
  req: IncomingMessage,
  headers: HeaderIndex,
  { peer, owner }: Sender,
  settings: Settings,
): Routed | null {
  const method = req.method ?? "";
  const target = parseTarget(req.url ?? "");
  if (/websocket/i.test(headers.get("upgrade") ?? "")) {
    // An offer of h2c, which Java's client makes, is simply not taken up (RFC 9110 section 7.8). Codex tries a WebSocket first and falls back to POST at once on 426 (facts/clients.md 1.4).
    throw new Refused({
      code: "upgrade_not_supported",
      message: "no WebSockets here; use POST",
      headers: UPGRADE,
      closes: true,
    });
  }
  if (target === null) throw new Refused({ code: "not_found", message: "no such route" });
  if (isProbe(method, target.path)) return null;
  const identity = withToken(identifyTool(target.mark, headers), owner, settings.config.access.mode);
  const caller = new Caller(identity, peer, settings);
  const match = caller.upstream.routes.find(method, target.path);
  if (match === null) throw new Refused({ code: "not_found", message: NO_ROUTE });
  if ("allow" in match) {
    const message = `this route takes ${match.allow} only`;
    throw new Refused({ code: "method_not_allowed", message, headers: ["allow", match.allow] });
  }
  if (
    method === "GET" &&
    (headers.has("transfer-encoding") || (headers.get("content-length") ?? "0") !== "0")
  ) {
    throw new Refused({ code: "bad_request", message: "a GET has no body here" });
  }
  return { caller, match, query: target.query };
}

/** RFC 9110 section 15.5.22 wants `Upgrade` on a 426; the connection is not worth keeping. */
const UPGRADE = ["upgrade", "HTTP/1.1", "connection", "upgrade, close"];

const NO_ROUTE =
  "no such route; there are GET /v1/models, POST /v1/responses, POST /v1/messages and POST /v1/messages/count_tokens, each also below /t/TOOL";
