import type { Auth, Dialect, Upstream } from "../config/config.ts";
import type { Api } from "./refusal.ts";
import { toolName } from "../identity/tool-identity.ts";
import type { Spend } from "../usage/reading.ts";

/** One way through: a method and a path below `/v1`, and what its requests and answers need. */
export interface Route {
  method: "GET" | "POST";
  /** Below `/v1`, as the ledger names it; `{id}` stands for one segment. */
  path: string;
  auth: Auth;
  dialect: Dialect;
  spend: Spend;
  /** Whose error shape our own refusals take. */
  api: Api;
}

/** A route found, with the path to ask the upstream for. */
export interface RouteMatch {
  route: Route;
  /** Below the upstream's base path; differs from `route.path` only where that has an `{id}`. */
  path: string;
}

/** The routes of one upstream. Built once per configuration, asked once per request. */
export interface RouteTable {
  /** The route of a raw path, its tool mark taken off; null for none; the allowed methods for a wrong method. */
  find(method: string, path: string): RouteMatch | { allow: string } | null;
}

/** A request target taken apart; nothing is decoded or normalised. */
export interface Target {
  /** Tool named by a `/t/TOOL` prefix, lower case. */
  mark: string | null;
  path: string;
  /** With its leading `?`, or empty. */
  query: string;
}

/** Origin form only, visible ASCII, no fragment (RFC 9112 section 3.2.1; facts/threats.md B1 and B2). */
const TARGET = /^(?:\/t\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?=[/?]|$))?((?:\/[!-"$->@-~]*)?)(\?[!-"$-~]*)?$/;

/** Tools disagree on whether their base URL ends in `/v1`; either value must work (facts/clients.md 1.7). */
const ALIASES = ["", "/v1", "/v1/v1"];

/** Takes a raw request target apart; null when it is not in origin form. */
export function parseTarget(target: string): Target | null {
  const [matched, named, below = "", query = ""] = TARGET.exec(target) ?? [];
  if (matched === undefined || (below === "" && named === undefined)) return null;
  if (named === undefined) return { mark: null, path: below, query };
  const mark = toolName(named);
  // What is no tool's name is left in the path, where no route matches.
  if (mark === null) return { mark, path: `/t/${named}${below}`, query };
  return { mark, path: below === "" ? "/" : below, query };
}

/** Connectivity probes that Claude Code sends at start (facts/clients.md 1.9): answered here, never logged. */
export function isProbe(method: string, path: string): boolean {
  return method === "HEAD" && (path === "/" || path === "/api/hello");
}

/** Whose error shape fits a path that may have no route. */
export function apiOfPath(path: string): Api {
  return path.includes("/messages") ? "messages" : "responses";
}

/** The four routes of the service (seed, section 4) and those that the configuration switches on. */
export function routesOf(upstream: Upstream): Route[] {
  return [
    { method: "GET", path: "/models", auth: "bearer", dialect: "none", spend: "never", api: "responses" },
    {
      method: "POST",
      path: "/responses",
      auth: "bearer",
      dialect: "responses",
      spend: "count",
      api: "responses",
    },
    {
      method: "POST",
      path: "/messages",
      auth: "x-api-key",
      dialect: "messages",
      spend: "count",
      api: "messages",
    },
    {
      method: "POST",
      path: "/messages/count_tokens",
      auth: upstream.countTokensAuth,
      dialect: "messages",
      spend: "never",
      api: "messages",
    },
    ...upstream.routes.map((route): Route => ({
      ...route,
      api: route.dialect === "messages" ? "messages" : "responses",
    })),
  ];
}

/** Builds the table: paths match by equality, each under its three aliases. */
export function buildRouteTable(routes: readonly Route[]): RouteTable {
  const exact = new Map<string, RouteMatch[]>();
  const patterns: { pattern: RegExp; route: Route }[] = [];
  for (const route of routes) {
    if (route.path.includes("{id}")) {
      patterns.push({ pattern: patternOf(route.path), route });
      continue;
    }
    for (const alias of ALIASES) {
      const path = alias + route.path;
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
