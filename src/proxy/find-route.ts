import type { IncomingMessage } from "node:http";
import type { HeaderIndex } from "../core/header-index.ts";
import type { KeyRef } from "../core/key-source.ts";
import { Refused } from "../core/refusal.ts";
import { isProbe, parseTarget, type RouteMatch } from "../core/routes.ts";
import { identifyTool, type ToolIdentity } from "../core/tool.ts";
import type { Settings, UpstreamSettings } from "./settings.ts";

/** What is known of a request once it is admitted and has a route. */
export interface Routed {
  tool: ToolIdentity;
  match: RouteMatch;
  query: string;
  upstream: UpstreamSettings;
  key: KeyRef;
}

/** Names the tool and finds the route among those of the tool's upstream; null for a probe, which is answered here. */
export function findRoute(req: IncomingMessage, headers: HeaderIndex, settings: Settings): Routed | null {
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
  const tool = identifyTool(target.mark, headers);
  const upstream = settings.upstreamFor(tool.tool);
  const match = upstream.routes.find(method, target.path);
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
  return { tool, match, query: target.query, upstream, key: settings.keyFor(tool.tool) };
}

/** RFC 9110 section 15.5.22 wants `Upgrade` on a 426; the connection is not worth keeping. */
const UPGRADE = ["upgrade", "HTTP/1.1", "connection", "upgrade, close"];

const NO_ROUTE =
  "no such route; there are GET /v1/models, POST /v1/responses, POST /v1/messages and POST /v1/messages/count_tokens, each also below /t/TOOL";
