import type { IncomingMessage } from "node:http";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { Refused, type Refusal } from "../core/http/refusal.ts";
import { isProbe, parseTarget, type RouteMatch } from "../core/http/routes.ts";
import { identifyTool, withToken } from "../core/identity/tool-identity.ts";
import { RequestIdentity, type Peer } from "./request-identity.ts";
import { BODY_OF_GET, NO_ROUTE, NO_TARGET, NO_WEBSOCKETS, wrongMethod } from "./refusals.ts";
import type { Settings } from "./settings.ts";
import { noToken } from "./token-registry.ts";

/** What is known of a request once it is admitted and has a route. */
export interface Routed {
  caller: RequestIdentity;
  match: RouteMatch;
  query: string;
}

/** What is known of who sends a request, beside what its headers say. */
export interface Sender {
  peer: Peer;
  /** The tool whose registered token the request shows; null where it shows none. */
  owner: string | null;
  /** Is a token asked for that it does not show? */
  lacksToken: boolean;
}

/**
 * Names the tool and finds the route among those of the tool's upstream; null for a probe, which is answered here, with a
 * token or without: tools send it before they know of any credential (facts/clients.md 1.9). Who lacks a token is not
 * told what has no route either.
 */
export function findRoute(
  req: IncomingMessage,
  headers: HeaderIndex,
  { peer, owner, lacksToken }: Sender,
  settings: Settings,
): Routed | null {
  const method = req.method ?? "";
  const target = parseTarget(req.url ?? "");
  // An offer of h2c, which Java's client makes, is simply not taken up (RFC 9110 section 7.8). Codex tries a WebSocket first and falls back to POST at once on 426 (facts/clients.md 1.4).
  const isWebSocket = /websocket/i.test(headers.get("upgrade") ?? "");
  if (!isWebSocket && target !== null && isProbe(method, target.path)) return null;
  const claimed = identifyTool(target?.mark ?? null, headers);
  const turnAway = (refusal: Refusal) => new Refused(lacksToken ? noToken(claimed) : refusal);
  if (isWebSocket) throw turnAway(NO_WEBSOCKETS);
  if (target === null) throw turnAway(NO_TARGET);
  const caller = new RequestIdentity(withToken(claimed, owner, settings.config.access.mode), peer, settings);
  const match = caller.upstream.routes.find(method, target.path);
  if (match === null) throw turnAway(NO_ROUTE);
  if ("allow" in match) throw turnAway(wrongMethod(match.allow));
  if (method === "GET" && hasBody(headers)) throw turnAway(BODY_OF_GET);
  return { caller, match, query: target.query };
}

function hasBody(headers: HeaderIndex): boolean {
  return headers.has("transfer-encoding") || (headers.get("content-length") ?? "0") !== "0";
}
