import { ASSETS_PATH, FEEDS_PATH, HEALTH_PATH, METRICS_PATH } from "./own-paths.ts";
import type { RouteAuth } from "../config/config.ts";
import type { Api, Body, METHODS } from "./api.ts";
import { bedrockRoute, isLikeBedrock, readBedrockPath, type BedrockPath } from "./bedrock/model-path.ts";
import { GOOGLE_ROOT, isGoogleRoute, readGooglePath } from "./gemini/google-path.ts";
import { LIVE_ROUTE, readLivePath } from "./gemini/live-path.ts";
import type { ModelPath } from "./gemini/model-path.ts";
import { isId, isModelId } from "./path-id.ts";
import { parseToolName } from "../config/names.ts";
import type { Spend, Dialect } from "../usage/reading.ts";

/** What stands in the path of a route for the id of something. */
export const ID = "{id}";

/** The one route besides those of Google and Bedrock on which the path names a model. Ids such as `openai/gpt-5.5` have slashes. */
export const MODEL_PATH = "/models/{id}";

/** The bytes of a stored file. */
export const FILE_CONTENT = "/files/{id}/content";

/** The routes of Google's API for the list of models and for one of them; the latter begins all paths that name a model. */
export const GOOGLE_LIST = `${GOOGLE_ROOT}models`;
export const GOOGLE_MODEL = `${GOOGLE_LIST}/${ID}`;

/** A method and a path, and how their requests and responses are handled. */
export interface Route {
  /** Only Google's API has a PATCH. */
  method: (typeof METHODS)[number] | "PATCH";
  /**
   * Relative to `/v1`, as recorded in the ledger; `{id}` stands for one segment, and in {@link MODEL_PATH} for the rest. On the routes of
   * Google's API with the version `v1beta`, for all of its versions, and `models/{id}` for all that are a model.
   */
  path: string;
  auth: RouteAuth;
  dialect: Dialect;
  spend: Spend;
  /** The API that the route belongs to, in whose error shape it is refused; null for a route that several have: then the client's. */
  api: Api | null;
  /** The API whose error shape it is refused in, where that is another: Claude at Vertex. */
  shape?: Api;
  /** The bodies that a POST may have (SECURITY.md A3). */
  accepts: readonly Body[];
  /** True where the configuration lets limited tools use files, uploads or batches; on no built-in route. */
  forLimitedTools?: true;
  /** The same route for a client of the Messages API, which has the path, too. */
  asMessages?: Route;
}

/** The model that a path of Google's or Bedrock's API names, and where. */
export type ModelInPath = ModelPath | BedrockPath;

/** A matched route and the path to request from the upstream. */
export interface RouteMatch {
  route: Route;
  /** Relative to the upstream's base path. Differs from `route.path` only when that contains `{id}`, or is Google's. */
  path: string;
  /** Where a path of Google's or Bedrock's API names a model; null on every other. */
  named: ModelInPath | null;
}

/** The routes of one upstream. Built once per configuration, searched once per request. */
export interface RouteTable {
  /**
   * Finds the route of a raw path without tool mark: `{ allow: "GET, POST" }` for a wrong method, null without a route. Only `/v1/models`
   * and what is below it can be Google's or another's: Google's for a client that `speaksGoogle`, where an upstream has it.
   */
  find(method: string, path: string, speaksGoogle?: boolean): RouteMatch | { allow: string } | null;
  /** That of Google's Live API, which only the handshake of a WebSocket gets; null where there is none. */
  readonly live: Route | null;
}

/** True for the route of Google's Live API. */
export function isLive({ path }: Pick<Route, "path">): boolean {
  return path === LIVE_ROUTE;
}

/** Finds the route of a WebSocket by its raw path without tool mark; null where there is none. */
export function findSocketRoute(table: RouteTable, path: string): RouteMatch | null {
  const live = table.live === null ? null : readLivePath(path);
  if (table.live !== null && live !== null) return { route: table.live, path: live, named: null };
  const found = table.find("POST", path);
  return found !== null && "route" in found && found.route.path === "/responses" ? found : null;
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
const FIRST_WORDS = new Set(
  "messages responses chat completions embeddings model models alpha moderations rerank images audio files uploads upload batches".split(
    " ",
  ),
);

/**
 * True for a target such as `/t/messages` or `/t/chat/completions`, in which the tool's name is missing and a word of the route stands
 * in its place. A tool may have such a name: `/t/chat/v1/messages`, `/t/models/v1/models`.
 */
export function lacksToolName(method: string, { toolMark, path }: RequestTarget, table: RouteTable): boolean {
  if (toolMark === null || !FIRST_WORDS.has(toolMark)) return false;
  const whole = table.find(method, `/${toolMark}${path === "/" ? "" : path}`);
  if (whole === null || ("route" in whole && !whole.route.path.includes(ID))) return whole !== null;
  // What is taken for an id may be a route below a tool of that name.
  const rest = table.find(method, path);
  return rest === null || "allow" in rest;
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

/** A version that only Google has, or an action on a model. */
const GOOGLES_PATH = /\/v1(?:beta|alpha)\d*(?:\/(?!openai\/)|$)|\/models\/[^/]+(?::|%3a)[a-z]+$/i;

/** Returns the API that a path seems to belong to; it may have no route, and may still have its tool mark and query. */
export function guessApi(target: string): Api {
  const [whole = ""] = target.split(/[?#]/, 1);
  const path = parseRequestTarget(whole)?.path ?? whole;
  if (isLikeBedrock(path)) return "bedrock";
  if (readLivePath(path) !== null) return "gemini";
  if (path.includes("/messages") || path.includes("/publishers/anthropic/")) return "messages";
  if (GOOGLES_PATH.test(path)) return "gemini";
  return /\/(?:completions|embeddings)/.test(path) ? "chat" : "responses";
}

/** Builds a route table. Paths match by equality, each under three prefixes; what stands for `{id}` is judged by `path-id.ts`. */
export function buildRouteTable(routes: readonly Route[]): RouteTable {
  const exact = new Map<string, RouteMatch[]>();
  const patterns: Pattern[] = [];
  const googles: Route[] = [];
  const bedrocks: Route[] = [];
  for (const route of routes) {
    if (isLive(route)) continue;
    if (route.api === "bedrock") {
      bedrocks.push(route);
      continue;
    }
    if (route.api === "gemini" && isGoogleRoute(route.path)) {
      googles.push(route);
      continue;
    }
    const [head = "", tail] = route.path.split(ID);
    if (tail !== undefined) {
      patterns.push({ head, tail, isId: route.path === MODEL_PATH ? isModelId : isId, route });
      continue;
    }
    for (const prefix of PREFIXES) {
      const path = prefix + route.path;
      exact.set(path, [...(exact.get(path) ?? []), { route, path: route.path, named: null }]);
    }
  }
  return {
    live: routes.find(isLive) ?? null,
    find(method, path, speaksGoogle = false) {
      const own = speaksGoogle && googles.length > 0 ? matchGoogles(googles, path) : NONE;
      const known = own.length > 0 ? own : exact.get(path);
      // A path that is spelled out is never taken for one with an id: `/responses/compact`.
      const candidates = known ?? matchOthers(patterns, googles, bedrocks, path);
      for (const candidate of candidates) if (candidate.route.method === method) return candidate;
      return candidates.length === 0
        ? null
        : { allow: candidates.map(({ route }) => route.method).join(", ") };
    },
  };
}

/** A route with `{id}`: what is before and after it, and what may stand for it. */
interface Pattern {
  head: string;
  tail: string;
  isId: (text: string) => boolean;
  route: Route;
}

const NONE: readonly RouteMatch[] = [];

/** Reached by paths only that are not spelled out in any route. The description of a model is the one that Google shares with others. */
function matchOthers(
  patterns: readonly Pattern[],
  googles: readonly Route[],
  bedrocks: readonly Route[],
  path: string,
): readonly RouteMatch[] {
  const asked = bedrocks.length > 0 ? matchBedrock(bedrocks, path) : NONE;
  if (asked.length > 0) return asked;
  const found = googles.length > 0 ? matchGoogles(googles, path) : NONE;
  if (found.length > 0 && (found[0]?.named?.action != null || !path.startsWith("/v1/"))) return found;
  const others = matchPatterns(patterns, path);
  return others.length > 0 ? others : found;
}

/** Finds the routes of a path of Google's API, in any of its versions. */
function matchGoogles(googles: readonly Route[], path: string): readonly RouteMatch[] {
  const read = readGooglePath(path);
  if (read === null) return NONE;
  const { named, path: sent } = read;
  return googles.flatMap((route) => (route.path === read.route ? [{ route, path: sent, named }] : []));
}

/** Finds the routes of a path of Bedrock's API, which has no version. */
function matchBedrock(bedrocks: readonly Route[], path: string): readonly RouteMatch[] {
  const sent = withoutPrefix(withoutPrefix(path));
  const named = readBedrockPath(sent);
  if (named === null) return NONE;
  const asked = bedrockRoute(named.action);
  return bedrocks.flatMap((route) => (route.path === asked ? [{ route, path: sent, named }] : []));
}

function matchPatterns(patterns: readonly Pattern[], path: string): RouteMatch[] {
  const below = withoutPrefix(withoutPrefix(path));
  const found: RouteMatch[] = [];
  for (const { head, tail, isId: fits, route } of patterns) {
    if (!below.startsWith(head) || !below.endsWith(tail)) continue;
    const end = below.length - tail.length;
    if (end > head.length && fits(below.slice(head.length, end)))
      found.push({ route, path: below, named: null });
  }
  return found;
}

function withoutPrefix(path: string): string {
  return path.startsWith("/v1/") ? path.slice("/v1".length) : path;
}
