import { buildRouteTable, type Route, type RouteMatch, type RouteTable } from "../http/routes.ts";
import { PLAN_SEGMENT } from "./names.ts";
import type { Plan } from "./plans.ts";

/** Below the tool's mark: `/t/codex/plan/v1/responses`. */
const PLAN_PATH = new RegExp(`^${PLAN_SEGMENT}(?=/|$)`);

/** Returns the path below `/plan`, `/` for nothing; null for a path that is no plan's. */
export function pathBelowPlan(path: string): string | null {
  return PLAN_PATH.test(path) ? path.slice(PLAN_SEGMENT.length) || "/" : null;
}

/** A segment that some server could read as another: empty, `.`, `..`, with a backslash, or with one of these or a slash encoded. */
const AMBIGUOUS = /\/(?:\/|\.{1,2}(?:\/|$))|\\|%(?:2e|2f|5c|25)/i;

const VERSION = "/v1";

/** Builds the routes of a plan, with what else passes at its base path. */
export function buildPlanTable({ routes, passesOthers }: Plan): RouteTable {
  const table = buildRouteTable(routes);
  return {
    live: table.live,
    find(method, path) {
      const found = table.find(method, path);
      return found === null && passesOthers ? passOther(method, path) : found;
    },
  };
}

/** How records name a path without a route. */
const OTHER = { path: "/*", dialect: "none", api: "responses", auth: "none", accepts: ["json"] } as const;

function passOther(method: string, path: string): RouteMatch | null {
  if (!path.startsWith(`${VERSION}/`) || path.endsWith("/") || AMBIGUOUS.test(path)) return null;
  const route = OTHER_ROUTES.find((one) => one.method === method);
  return route === undefined ? null : { route, path: path.slice(VERSION.length), named: null };
}

/** What a POST there uses is not known. */
const OTHER_ROUTES: readonly Route[] = [
  { ...OTHER, method: "GET", spend: "never" },
  { ...OTHER, method: "POST", spend: "count" },
  { ...OTHER, method: "DELETE", spend: "never" },
];
