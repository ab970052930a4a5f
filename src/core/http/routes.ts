import { ASSETS_PATH, FEEDS_PATH, HEALTH_PATH, METRICS_PATH } from "./own-paths.ts";
import type { RouteAuth, Upstream } from "../config/config.ts";
import type { Api } from "./api.ts";
import { parseToolName } from "../config/names.ts";
import { servesApi } from "./api.ts";
import type { Spend, Dialect } from "../usage/reading.ts";

/** A method and a path, and how their requests and responses are handled. */
export interface Route {
  method: "GET" | "POST";
  /** Relative to `/v1`, as recorded in the ledger; `{id}` stands for one segment. */
  path: string;
  auth: RouteAuth;
  dialect: Dialect;
  spend: Spend;
  /** The API that the route speaks, in whose error shape it is refused; `responses` for a route without a dialect. */
  api: Api;
}

/** A matched route and the path to request from the upstream. */
export interface RouteMatch {
  route: Route;
  /** Relative to the upstream's base path. Differs from `route.path` only when that contains `{id}`. */
  path: string;
}

/** The routes of one upstream. Built once per configuration, searched once per request. */
export interface RouteTable {
  /** Finds the route of a raw path without tool mark: `{ allow: "GET, POST" }` for a wrong method, null without a route. */
  find(method: string, path: string): RouteMatch | { allow: string } | null;
}

/** The parts of a request target, neither decoded nor normalised. */
export interface RequestTarget {
  /** The tool that a `/t/TOOL` prefix names, in lower case. */
  toolMark: string | null;
  path: string;
  /** With its leading `?`, or empty. */
  query: string;
}

/** Origin form, visible ASCII, no fragment (RFC 9112 section 3.2.1; SECURITY.md B1 and B2). */
const REQUEST_TARGET =
  /^(?:\/t\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?=[/?]|$))?((?:\/[!-"$->@-~]*)?)(\?[!-"$-~]*)?$/;

/** The first segments of the built-in routes without their version. */
const FIRST_WORDS = new Set(["messages", "responses", "chat", "completions", "embeddings", "models"]);

/**
 * True for a target such as `/t/messages` or `/t/chat/completions`, in which the tool's name is missing and a word of the route stands
 * in its place. A tool may have such a name: `/t/chat/v1/messages`.
 */
export function lacksToolName(method: string, { toolMark, path }: RequestTarget, table: RouteTable): boolean {
  if (toolMark === null || !FIRST_WORDS.has(toolMark)) return false;
  return table.find(method, `/${toolMark}${path === "/" ? "" : path}`) !== null;
}

/** Tools disagree on whether their base URL ends in `/v1`; both must work (docs/wire.md section 1). */
const PREFIXES = ["", "/v1", "/v1/v1"];

/** Splits a raw request target; null when it is not in origin form. */
export function parseRequestTarget(target: string): RequestTarget | null {
  const [matched, named, below = "", query = ""] = REQUEST_TARGET.exec(target) ?? [];
  if (matched === undefined || (below === "" && named === undefined)) return null;
  if (named === undefined) return { toolMark: null, path: below, query };
  const toolMark = parseToolName(named);
  // An invalid tool name stays in the path, which then matches no route.
  if (toolMark === null) return { toolMark, path: `/t/${named}${below}`, query };
  return { toolMark, path: below === "" ? "/" : below, query };
}

/** True for Claude Code's connectivity probes (docs/wire.md section 1), which get a local response and are never recorded. */
export function isProbe(method: string, path: string): boolean {
  return method === "HEAD" && (path === "/" || path === "/api/hello");
}

/** True for the question whether the daemon can serve. */
export function isHealthRequest(method: string, path: string): boolean {
  return path === HEALTH_PATH && (method === "GET" || method === "HEAD");
}

/** True for a request for metrics. */
export function isMetricsRequest(method: string, path: string): boolean {
  return method === "GET" && path === METRICS_PATH;
}

/** True for a file of the page at the root. */
export function isAssetRequest(method: string, path: string): boolean {
  return method === "GET" && path.startsWith(ASSETS_PATH);
}

/** True for a feed of that page. */
export function isFeedRequest(method: string, path: string): boolean {
  return method === "GET" && path.startsWith(FEEDS_PATH);
}

/** True when a browser asks for the page at the root. Other clients get the 404 of any path without a route. */
export function isPageRequest(method: string, path: string, accept: string | undefined): boolean {
  return method === "GET" && path === "/" && /\btext\/html\b/i.test(accept ?? "");
}

/** Returns the API that a path seems to belong to; it may have no route. */
export function guessApi(path: string): Api {
  if (path.includes("/messages")) return "messages";
  return /\/(?:completions|embeddings)/.test(path) ? "chat" : "responses";
}

/** Lists an upstream's routes: the built-in ones and those that the configuration adds. */
export function listRoutes(upstream: Upstream): Route[] {
  const { countTokensAuth, routes } = upstream;
  const messages = authFor(upstream, "messages");
  const responses = authFor(upstream, "responses");
  const chat = authFor(upstream, "chat");
  // An upstream of one API takes its key for the list as that API does.
  const first = (["responses", "chat"] as const).find((api) => servesApi(upstream, api)) ?? "messages";
  const models = authFor(upstream, first);
  const builtIn: Omit<Route, "api">[] = [
    { method: "GET", path: "/models", auth: models ?? "bearer", dialect: "none", spend: "never" },
    { method: "POST", path: "/responses", auth: responses ?? "bearer", dialect: "responses", spend: "count" },
    { method: "POST", path: "/messages", auth: messages ?? "x-api-key", dialect: "messages", spend: "count" },
    {
      method: "POST",
      path: "/messages/count_tokens",
      auth: messages ?? countTokensAuth,
      dialect: "messages",
      spend: "never",
    },
    { method: "POST", path: "/chat/completions", auth: chat ?? "bearer", dialect: "chat", spend: "count" },
    { method: "POST", path: "/completions", auth: chat ?? "bearer", dialect: "chat", spend: "count" },
    { method: "POST", path: "/embeddings", auth: chat ?? "bearer", dialect: "chat", spend: "count" },
  ];
  const served = builtIn.filter(({ dialect }) => dialect === "none" || servesApi(upstream, dialect));
  return [...served, ...routes].map((route) => ({
    ...route,
    auth: upstream.auth === "none" ? "none" : route.auth,
    api: route.dialect === "none" ? "responses" : route.dialect,
  }));
}

/** How the upstream's configuration wants the key on the routes of an API; null when it leaves that to the route. */
function authFor({ auth }: Upstream, api: Api): RouteAuth | null {
  return typeof auth === "object" ? (auth?.[api] ?? null) : auth;
}

/** Builds a route table. Paths match by equality, each under three prefixes. */
export function buildRouteTable(routes: readonly Route[]): RouteTable {
  const exact = new Map<string, RouteMatch[]>();
  const patterns: { pattern: RegExp; route: Route }[] = [];
  for (const route of routes) {
    if (route.path.includes("{id}")) {
      patterns.push({ pattern: patternOf(route.path), route });
      continue;
    }
    for (const prefix of PREFIXES) {
      const path = prefix + route.path;
      exact.set(path, [...(exact.get(path) ?? []), { route, path: route.path }]);
    }
  }

  function matchPatterns(path: string): RouteMatch[] {
    return patterns.flatMap(({ pattern, route }) => {
      const below = pattern.exec(path)?.[1];
      return below === undefined ? [] : { route, path: below };
    });
  }

  return {
    find(method, path) {
      const byMethod = ({ route }: RouteMatch) => route.method === method;
      const known = exact.get(path) ?? [];
      const match = known.find(byMethod);
      if (match !== undefined) return match;
      const candidates = [...known, ...matchPatterns(path)];
      if (candidates.length === 0) return null;
      return candidates.find(byMethod) ?? { allow: candidates.map(({ route }) => route.method).join(", ") };
    },
  };
}

function patternOf(path: string): RegExp {
  const below = path.replaceAll(".", String.raw`\.`).replaceAll("{id}", "[A-Za-z0-9_-]{1,256}");
  return new RegExp(`^(?:/v1){0,2}(${below})$`);
}
