import {
  hasBody,
  isFromBrowser,
  isUnderListedName,
  isWindowLoad,
  isWithoutMetadata,
  refuseBody,
  refuseDocument,
  refuseServiceWorker,
  urlOf,
  type AdmissionRules,
} from "../http/admission.ts";
import { speaksGoogle, speaksMessages } from "../http/api.ts";
import { readLivePath } from "../http/gemini/live-path.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import type { Refusal } from "../refusals/refusal.ts";
import {
  findSocketRoute,
  isAssetRequest,
  isFeedRequest,
  isHealthRequest,
  isMetricsRequest,
  isPageRequest,
  isProbe,
  lacksToolName,
  parseRequestTarget,
  type RouteMatch,
  type RequestTarget,
  type RouteTable,
} from "../http/routes.ts";
import { pathBelowPlan } from "../plans/plan-paths.ts";
import { noPlan } from "../refusals/plans.ts";
import type { PlanDestination, Settings } from "./settings.ts";
import { LOOPBACK_ONLY, NO_PAGE, OLD_BROWSER } from "../refusals/access.ts";
import { noBodyAllowed, NO_LIVE_API, NO_WEBSOCKETS, noRoute, wrongMethod } from "../refusals/routes.ts";

/** A path that tollkeeper handles itself. */
export type LocalRoute = "probe" | "page" | "asset" | "feed" | "health" | "metrics";

/** A request for one of the API's routes, at whichever upstream serves it. */
export interface ApiRequest {
  kind: "api";
  /** The tool named in the path by `/t/TOOL`. */
  mark: string | null;
  method: string;
  /** The local path without the tool's mark. */
  path: string;
  /** With its leading `?`, or empty. */
  query: string;
  match: RouteMatch;
  /** The plan that pays, by the path; null for a key. */
  plan: PlanDestination | null;
  /** Tells the key that the tool sent from others in records, where an upstream may pass it; else null. */
  ownKey: string | null;
  /** True for a client that speaks the Messages API, whatever the route. */
  speaksMessages: boolean;
  /** True for a client of Google's API. */
  speaksGoogle: boolean;
  /** True for a body with files, whose model decides nothing. Only routes that take one get it. */
  isForm: boolean;
}

/** The opening handshake of a WebSocket. What is asked for on it is judged as a request: for `POST /responses`, or for the Live API. */
export interface SocketRequest extends Omit<ApiRequest, "kind" | "method"> {
  kind: "socket";
  method: "POST";
}

/** A request that matches no route, or a route with another method. */
export interface RefusedRequest {
  kind: "refusal";
  mark: string | null;
  refusal: Refusal;
}

/** A request for one of our own paths, exactly as it was received. */
export interface LocalRequest {
  kind: "local";
  route: LocalRoute;
  path: string;
  /** With its leading `?`, or empty. */
  query: string;
}

/** A request that could be a web page's. A token changes nothing. */
interface BrowserRequest {
  kind: "browser";
  refusal: Refusal;
}

/** The first line of a request, as Node has it. */
interface RequestLine {
  method?: string | undefined;
  url?: string | undefined;
}

/** What a request is for. */
export type Resolution = LocalRequest | BrowserRequest | ApiRequest | SocketRequest | RefusedRequest;

/** Resolves a request by its method and raw path among the routes of all upstreams. Nothing is decoded or normalised. */
export function resolveRoute(
  { method = "", url = "" }: RequestLine,
  headers: HeaderIndex,
  { table, rules, plans }: Pick<Settings, "table" | "rules" | "plans">,
): Resolution {
  const target = parseRequestTarget(url);
  const mark = target?.toolMark ?? null;
  // An offer of h2c, which Java's client makes, is ignored (RFC 9110 section 7.8; docs/wire.md section 1).
  if (/websocket/i.test(headers.get("upgrade") ?? ""))
    return (
      resolveHandshake(method, target, headers, { table, plans }) ?? {
        kind: "refusal",
        mark,
        refusal: readLivePath(target?.path ?? "") === null ? NO_WEBSOCKETS : NO_LIVE_API,
      }
    );
  if (target === null) return { kind: "refusal", mark, refusal: noRoute(method, url) };
  const { path, query } = target;
  const fromWorker = refuseServiceWorker(method, path, headers);
  if (fromWorker !== null) return { kind: "browser", refusal: fromWorker };
  if (lacksToolName(method, target, table))
    return { kind: "refusal", mark: null, refusal: noRoute(method, url) };
  const { below, plan } = findPlan(mark, path, plans);
  if (isProbe(method, below ?? path)) return { kind: "local", route: "probe", path, query };
  const hidden = refuseOwn(method, path, headers, rules);
  if (hidden !== null) return { kind: "browser", refusal: hidden };
  const local = findLocalRoute(method, path, headers);
  // Tools probe at the base URL that they are told, with its mark, and people open it. Everything else of ours has one path.
  if (local !== null && (mark === null || local === "page") && !hasBody(headers))
    return { kind: "local", route: local, path, query };
  if (below !== null && plan === null) return { kind: "refusal", mark, refusal: noPlan(mark ?? "") };
  const match = findRoute(plan?.upstream.table ?? table, method, below ?? path, headers);
  if ("code" in match) return { kind: "refusal", mark, refusal: match };
  const takesBody = method === "POST" || method === "PATCH" || (hasBody(headers) && mayDeleteWithBody(match));
  const wrongBody = takesBody ? refuseBody(headers, path, match.route) : null;
  if (wrongBody !== null) return { kind: "browser", refusal: wrongBody };
  if (!takesBody && hasBody(headers)) return { kind: "refusal", mark, refusal: noBodyAllowed(method) };
  const document = refuseDocument(headers, path);
  if (document !== null) return { kind: "browser", refusal: document };
  return {
    kind: "api",
    mark,
    method,
    path,
    query,
    match,
    plan,
    ownKey: null,
    speaksMessages: speaksMessages(headers),
    speaksGoogle: speaksGoogle(headers),
    isForm: isForm(headers, match),
  };
}

/**
 * Resolves the handshake of a WebSocket; null where no WebSocket is served. A browser sends its headers with every handshake, and no
 * page can leave out the `Origin` (RFC 6455 section 4.1; SECURITY.md A5).
 */
function resolveHandshake(
  method: string,
  target: RequestTarget | null,
  headers: HeaderIndex,
  { table, plans }: Pick<Settings, "table" | "plans">,
): SocketRequest | BrowserRequest | RefusedRequest | null {
  const isOther = headers.get("upgrade")?.toLowerCase() !== "websocket";
  if (target === null || method !== "GET" || isOther || hasBody(headers)) return null;
  const { path, query, toolMark: mark } = target;
  const { below, plan } = findPlan(mark, path, plans);
  const isFromPage = headers.has("origin") || isFromBrowser(headers);
  if (below !== null && plan === null && !isFromPage)
    return { kind: "refusal", mark, refusal: { ...noPlan(mark ?? ""), closesConnection: true } };
  const match = findSocketRoute(plan?.upstream.table ?? table, below ?? path);
  if (match === null) return null;
  if (isFromPage) return { kind: "browser", refusal: NO_PAGE };
  return {
    kind: "socket",
    mark,
    method: "POST",
    path,
    query,
    match,
    plan,
    ownKey: null,
    speaksMessages: false,
    speaksGoogle: match.route.api === "gemini",
    isForm: false,
  };
}

/** Google's SDK sends `{}` with each of its deletions (docs/wire.md section 12). */
function mayDeleteWithBody({ route: { method, api } }: RouteMatch): boolean {
  return method === "DELETE" && api === "gemini";
}

/** Returns the path below `/plan` and the plan that pays; null for a path that is no plan's, and without the plan where it may not pass. */
function findPlan(
  mark: string | null,
  path: string,
  plans: Settings["plans"],
): { below: string | null; plan: PlanDestination | null } {
  const below = mark === null ? null : pathBelowPlan(path);
  return { below, plan: below === null ? null : (plans.get(mark ?? "") ?? null) };
}

/** Nearly every route takes JSON only. */
function isForm(headers: HeaderIndex, { route: { accepts } }: RouteMatch): boolean {
  return (
    accepts.length > 1 &&
    accepts.includes("multipart") &&
    /^\s*multipart\//i.test(headers.get("content-type") ?? "")
  );
}

/** True for what a peer may ask (SECURITY.md F7): one who is admitted for metrics gets these and health checks, and learns nothing about other paths. */
export function mayAsk({ permission }: { permission: { usesProxy: boolean } }, request: Resolution): boolean {
  if (permission.usesProxy) return true;
  return request.kind === "local" && (request.route === "metrics" || request.route === "health");
}

/** Returns the refusal of what is ours where a browser would not say which page requests it; null for any other request (SECURITY.md A16 and A17). */
function refuseOwn(
  method: string,
  path: string,
  headers: HeaderIndex,
  rules: AdmissionRules,
): Refusal | null {
  const isPage = isPageRequest(method, path, headers.get("accept"));
  if (!isPage && (!path.startsWith("/_tollkeeper/") || isHealthRequest(method, path))) return null;
  if (isUnderListedName(headers, rules)) return LOOPBACK_ONLY;
  return isWithoutMetadata(headers) ? OLD_BROWSER : null;
}

function findLocalRoute(method: string, path: string, headers: HeaderIndex): LocalRoute | null {
  if (isPageRequest(method, path, headers.get("accept"))) return isWindowLoad(headers) ? "page" : null;
  // Nearly every path.
  if (!path.startsWith("/_")) return null;
  if (isHealthRequest(method, path)) return "health";
  if (isMetricsRequest(method, path)) return isWindowLoad(headers) ? "metrics" : null;
  if (isFeedRequest(method, path)) return "feed";
  return isAssetRequest(method, path) ? "asset" : null;
}

/**
 * Looks a route up. Returns the refusal for a path that does not exist (404) or takes other methods (405). `headers` are those of a
 * request that has been received.
 */
export function findRoute(
  table: RouteTable,
  method: string,
  path: string,
  headers?: HeaderIndex,
): RouteMatch | Refusal {
  const found = table.find(method, path, headers !== undefined && speaksGoogle(headers));
  if (found === null) return noRoute(method, path);
  if (!("allow" in found)) return found;
  return wrongMethod(method, path, found.allow, headers === undefined ? null : urlOf(headers, path));
}
