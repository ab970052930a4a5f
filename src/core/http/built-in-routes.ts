import type { RouteAuth, Upstream } from "../config/config.ts";
import { servesApi, servesNoShared, type Api, type Body } from "./api.ts";
import { BEDROCK_ACTIONS, bedrockRoute } from "./bedrock/model-path.ts";
import {
  GOOGLE_CONTENT,
  GOOGLE_COUNT,
  GOOGLE_ROOT,
  GOOGLE_STORES,
  GOOGLE_UPLOAD,
  STORE_IMPORT,
  STORE_UPLOAD,
  VERTEX_LIST,
} from "./gemini/google-path.ts";
import { LIVE_ROUTE } from "./gemini/live-path.ts";
import { BATCH_ACTIONS, type ModelAction } from "./gemini/model-path.ts";
import { FILE_CONTENT, GOOGLE_LIST, GOOGLE_MODEL, MODEL_PATH, type Route } from "./routes.ts";

const JSON_ONLY: readonly Body[] = ["json"];

/** `/cancel` takes no body; some SDKs send none, and no content type (docs/routes.md). */
const JSON_OR_EMPTY: readonly Body[] = ["json", "empty"];

const JSON_OR_BLOB: readonly Body[] = ["json", "blob"];

const JSON_OR_FORM: readonly Body[] = ["json", "multipart"];

/** Lists an upstream's routes: the built-in ones and those that the configuration adds. */
export function listRoutes(upstream: Upstream): Route[] {
  const builtIn = [
    ...(servesNoShared(upstream) ? [] : sharedRoutes(upstream)),
    ...(servesApi(upstream, "responses") ? responsesRoutes(authFor(upstream, "responses")) : []),
    ...(servesApi(upstream, "messages") ? messagesRoutes(upstream, authFor(upstream, "messages")) : []),
    ...(servesApi(upstream, "chat") ? chatRoutes(authFor(upstream, "chat")) : []),
    ...(servesApi(upstream, "gemini") ? googleRoutes(authFor(upstream, "gemini")) : []),
    ...(servesApi(upstream, "bedrock") ? bedrockRoutes(authFor(upstream, "bedrock")) : []),
    ...(servesApi(upstream, "images") ? mediaRoutes(upstream, "images") : []),
    ...(servesApi(upstream, "audio") ? mediaRoutes(upstream, "audio") : []),
    ...(servesApi(upstream, "files") ? storageRoutes(upstream) : []),
  ];
  const isOpening = (route: Upstream["routes"][number]) =>
    route.forLimitedTools === true && builtIn.some((one) => identify(one) === identify(route));
  const opened = new Set(upstream.routes.filter(isOpening).map(identify));
  const added = upstream.routes
    .filter((route) => !isOpening(route))
    .map((route) => ({ ...route, api: apiOf(route.dialect) }));
  const replaced = new Set(added.map(identify));
  const kept = builtIn.filter((route) => !replaced.has(identify(route)));
  const routes = [...kept.map((route) => (opened.has(identify(route)) ? open(route) : route)), ...added];
  return upstream.auth === "none" ? routes.map(withoutKey) : routes;
}

/** Lets limited tools use a built-in route, which stays as it is. */
function open({ asMessages, ...route }: Route): Route {
  return {
    ...route,
    forLimitedTools: true,
    ...(asMessages !== undefined && { asMessages: open(asMessages) }),
  };
}

function withoutKey({ asMessages, ...route }: Route): Route {
  return { ...route, auth: "none", ...(asMessages !== undefined && { asMessages: withoutKey(asMessages) }) };
}

function apiOf(dialect: Upstream["routes"][number]["dialect"]): Api | null {
  if (dialect === "none") return null;
  return dialect === "media" ? "responses" : dialect;
}

/** Two routes with the same identity are one. What the configuration says of a built-in one counts. */
function identify({ method, path }: Pick<Route, "method" | "path">): string {
  return `${method} ${path}`;
}

/** The routes that several APIs have. An upstream of one API takes its key for them as that API does. */
function sharedRoutes(upstream: Upstream): Route[] {
  const auth = sharedAuth(upstream);
  return ["/models", MODEL_PATH].map((path) => ({
    method: "GET",
    path,
    auth,
    dialect: "none",
    spend: "never",
    api: null,
    accepts: JSON_ONLY,
  }));
}

function sharedAuth(upstream: Upstream): RouteAuth {
  const first = (["responses", "chat"] as const).find((api) => servesApi(upstream, api)) ?? "messages";
  return authFor(upstream, first) ?? "bearer";
}

/** OpenAI's images and audio (docs/wire.md section 7). Codex sends edits as JSON, SDKs as a form. */
const MEDIA = {
  images: { generations: JSON_ONLY, edits: JSON_OR_FORM, variations: JSON_OR_FORM },
  audio: { speech: JSON_ONLY, transcriptions: JSON_OR_FORM, translations: JSON_OR_FORM },
} as const;

function mediaRoutes(upstream: Upstream, family: keyof typeof MEDIA): Route[] {
  return Object.entries(MEDIA[family]).map(([name, accepts]) => ({
    method: "POST",
    path: `/${family}/${name}`,
    auth: sharedAuth(upstream),
    dialect: "media",
    spend: "count",
    api: "responses",
    accepts,
  }));
}

/** What is kept at the service. A list and a deletion report nothing; what creates something has its id in the response. */
const FREE = { dialect: "none", spend: "never", accepts: JSON_ONLY } as const;
const CREATES = { method: "POST", dialect: "object", spend: "never", accepts: JSON_ONLY } as const;

/** Files, which OpenAI and Anthropic have on the same paths, and what each of them makes of these (docs/wire.md section 13). */
function storageRoutes(upstream: Upstream): Route[] {
  const hasMessages = servesApi(upstream, "messages");
  const hasOthers = servesApi(upstream, "responses") || servesApi(upstream, "chat");
  return [
    ...(hasMessages || hasOthers ? fileRoutes(upstream, hasMessages) : []),
    ...(hasOthers ? batchRoutes(sharedAuth(upstream)) : []),
    ...(hasMessages ? messageBatchRoutes(authFor(upstream, "messages") ?? "x-api-key") : []),
    ...(servesApi(upstream, "gemini") ? googleStorageRoutes(authFor(upstream, "gemini")) : []),
  ];
}

function fileRoutes(upstream: Upstream, hasMessages: boolean): Route[] {
  const routes = [
    { ...CREATES, path: "/files", accepts: JSON_OR_FORM },
    { ...FREE, method: "GET", path: "/files" },
    { ...FREE, method: "GET", path: "/files/{id}" },
    { ...FREE, method: "DELETE", path: "/files/{id}" },
    { ...FREE, method: "GET", path: FILE_CONTENT },
  ] as const;
  const [shared, own] = [sharedAuth(upstream), authFor(upstream, "messages") ?? "x-api-key"];
  return routes.map((route) => ({
    ...route,
    auth: shared,
    api: null,
    ...(hasMessages && { asMessages: { ...route, auth: own, api: "messages" } }),
  }));
}

/** OpenAI's uploads in parts, and its batches. A batch that has ended has the usage of all its requests. */
function batchRoutes(auth: RouteAuth): Route[] {
  const common = { auth, api: "responses" } as const;
  const stored = { ...common, dialect: "batch", spend: "attach_by_response_id" } as const;
  return [
    { ...common, ...CREATES, path: "/uploads" },
    { ...common, ...CREATES, path: "/uploads/{id}/parts", accepts: JSON_OR_FORM },
    { ...common, ...CREATES, path: "/uploads/{id}/complete" },
    { ...common, ...CREATES, path: "/uploads/{id}/cancel", accepts: JSON_OR_EMPTY },
    { ...stored, method: "POST", path: "/batches", spend: "count", accepts: JSON_ONLY },
    { ...common, ...FREE, method: "GET", path: "/batches" },
    { ...stored, method: "GET", path: "/batches/{id}", accepts: JSON_ONLY },
    { ...stored, method: "POST", path: "/batches/{id}/cancel", accepts: JSON_OR_EMPTY },
  ];
}

/** Anthropic's batches. Only their results have usage. */
function messageBatchRoutes(auth: RouteAuth): Route[] {
  const common = { auth, api: "messages" } as const;
  const free = { ...common, ...FREE } as const;
  const path = "/messages/batches";
  return [
    { ...common, method: "POST", path, dialect: "batch", spend: "count", accepts: JSON_ONLY },
    { ...free, method: "GET", path },
    { ...free, method: "GET", path: `${path}/{id}` },
    { ...free, method: "DELETE", path: `${path}/{id}` },
    { ...free, method: "POST", path: `${path}/{id}/cancel`, accepts: JSON_OR_EMPTY },
    {
      ...common,
      method: "GET",
      path: `${path}/{id}/results`,
      dialect: "batch_results",
      spend: "attach_by_response_id",
      accepts: JSON_ONLY,
    },
  ];
}

/** The Responses API (docs/wire.md section 6), with what Codex asks of it. */
function responsesRoutes(configured: RouteAuth | null): Route[] {
  const auth = configured ?? "bearer";
  const common = { auth, dialect: "responses", api: "responses", accepts: JSON_ONLY } as const;
  const unmetered = { ...common, dialect: "none", spend: "never" } as const;
  const stored = { ...common, spend: "attach_by_response_id" } as const;
  return [
    { ...common, method: "POST", path: "/responses", spend: "count" },
    { ...common, method: "POST", path: "/responses/compact", spend: "count" },
    { ...common, method: "POST", path: "/responses/input_tokens", spend: "never" },
    { ...stored, method: "GET", path: "/responses/{id}" },
    { ...stored, method: "POST", path: "/responses/{id}/cancel", accepts: JSON_OR_EMPTY },
    { ...unmetered, method: "DELETE", path: "/responses/{id}" },
    { ...unmetered, method: "GET", path: "/responses/{id}/input_items" },
    // Codex's web search. Its response has no usage: the cost is unknown, not zero.
    { ...common, method: "POST", path: "/alpha/search", spend: "count" },
  ];
}

function messagesRoutes({ countTokensAuth }: Upstream, configured: RouteAuth | null): Route[] {
  const common = { method: "POST", dialect: "messages", api: "messages", accepts: JSON_ONLY } as const;
  return [
    { ...common, path: "/messages", auth: configured ?? "x-api-key", spend: "count" },
    { ...common, path: "/messages/count_tokens", auth: configured ?? countTokensAuth, spend: "never" },
  ];
}

/** Chat Completions, and what reports usage in its form, where it does. */
function chatRoutes(configured: RouteAuth | null): Route[] {
  const auth = configured ?? "bearer";
  return ["/chat/completions", "/completions", "/embeddings", "/moderations", "/rerank"].map((path) => ({
    method: "POST",
    path,
    auth,
    dialect: "chat",
    spend: "count",
    api: "chat",
    accepts: JSON_ONLY,
  }));
}

/** What is asked of a model in Google's API, and whether it is spent. All else has no route. */
const GOOGLE_ACTIONS = {
  generateContent: "count",
  streamGenerateContent: "count",
  countTokens: "never",
  computeTokens: "never",
  embedContent: "count",
  batchEmbedContents: "count",
  // Pictures, and embeddings at Vertex.
  predict: "count",
  // Films. What the response names tells when one is made.
  predictLongRunning: "count",
  fetchPredictOperation: "never",
} as const satisfies Partial<Record<ModelAction, Route["spend"]>>;

/** Google's API (docs/wire.md section 12). */
function googleRoutes(configured: RouteAuth | null): Route[] {
  const auth = configured ?? "x-goog-api-key";
  const common = { auth, api: "gemini", accepts: JSON_ONLY } as const;
  const free = { ...common, dialect: "none", spend: "never" } as const;
  const actions = Object.entries(GOOGLE_ACTIONS).map(([action, spend]): Route => {
    const path = `${GOOGLE_MODEL}:${action}`;
    return { ...common, method: "POST", path, dialect: "gemini", spend };
  });
  const stored = { ...common, dialect: "gemini", spend: "attach_by_response_id" } as const;
  const [interactions, cached] = [`${GOOGLE_ROOT}interactions`, `${GOOGLE_ROOT}cachedContents`];
  return [
    ...actions,
    ...claudeRoutes(configured),
    // Each turn on a WebSocket.
    { ...common, method: "POST", path: LIVE_ROUTE, dialect: "gemini", spend: "count" },
    { ...free, method: "GET", path: `${GOOGLE_ROOT}operations/{id}` },
    { ...common, method: "POST", path: interactions, dialect: "gemini", spend: "count" },
    { ...stored, method: "GET", path: `${interactions}/{id}` },
    { ...stored, method: "POST", path: `${interactions}/{id}/cancel`, accepts: JSON_OR_EMPTY },
    { ...free, method: "DELETE", path: `${interactions}/{id}` },
    { ...free, method: "GET", path: GOOGLE_LIST },
    { ...free, method: "GET", path: VERTEX_LIST },
    { ...free, method: "GET", path: GOOGLE_MODEL },
    // What is written is paid once, and what is stored by the hour. A change can only store it for longer, or for less long.
    { ...common, method: "POST", path: cached, dialect: "gemini", spend: "count" },
    { ...common, method: "PATCH", path: `${cached}/{id}`, dialect: "gemini", spend: "count" },
    { ...free, method: "GET", path: cached },
    { ...free, method: "GET", path: `${cached}/{id}` },
    { ...free, method: "DELETE", path: `${cached}/{id}` },
  ];
}

/** Claude at Vertex, which takes no key: the Messages API, with the model in the path. Where tokens are counted it is in the body. */
function claudeRoutes(configured: RouteAuth | null): Route[] {
  const common = {
    method: "POST",
    auth: configured ?? "bearer",
    api: "gemini",
    shape: "messages",
    dialect: "messages",
    accepts: JSON_ONLY,
  } as const;
  return [
    { ...common, path: `${GOOGLE_MODEL}:rawPredict`, spend: "count" },
    { ...common, path: `${GOOGLE_MODEL}:streamRawPredict`, spend: "count" },
    { ...common, path: GOOGLE_COUNT, spend: "never" },
  ];
}

/** Amazon Bedrock (docs/wire.md section 14). What a model is invoked with may come without a type of its own. */
function bedrockRoutes(configured: RouteAuth | null): Route[] {
  return BEDROCK_ACTIONS.map((action) => ({
    method: "POST",
    path: bedrockRoute(action),
    auth: configured ?? "bearer",
    dialect: "bedrock",
    spend: action === "count-tokens" ? "never" : "count",
    api: "bedrock",
    accepts: action.startsWith("invoke") ? JSON_OR_BLOB : JSON_ONLY,
  }));
}

/** Google's files and batches. An upload begins with JSON, and goes on with bytes at the address that the response names. */
function googleStorageRoutes(configured: RouteAuth | null): Route[] {
  const common = { auth: configured ?? "x-goog-api-key", api: "gemini" } as const;
  const free = { ...common, ...FREE } as const;
  const [files, file] = [`${GOOGLE_ROOT}files`, `${GOOGLE_ROOT}files/{id}`];
  const batch = `${GOOGLE_ROOT}batches/{id}`;
  const created = {
    ...common,
    method: "POST",
    dialect: "batch",
    spend: "count",
    accepts: JSON_ONLY,
  } as const;
  return [
    ...BATCH_ACTIONS.map((action) => ({ ...created, path: `${GOOGLE_MODEL}:${action}` })),
    { ...free, method: "GET", path: `${GOOGLE_ROOT}batches` },
    {
      ...common,
      method: "GET",
      path: batch,
      dialect: "batch",
      spend: "attach_by_response_id",
      accepts: JSON_ONLY,
    },
    { ...free, method: "DELETE", path: batch },
    { ...free, method: "POST", path: `${batch}:cancel`, accepts: JSON_OR_EMPTY },
    { ...common, ...CREATES, path: `${GOOGLE_UPLOAD}files`, accepts: ["json", "bytes"] },
    { ...free, method: "GET", path: files },
    { ...free, method: "GET", path: file },
    { ...free, method: "DELETE", path: file },
    ...GOOGLE_CONTENT.map((path): Route => ({ ...free, method: "GET", path })),
    ...fileStoreRoutes(common),
  ];
}

/**
 * Stores of files that are searched. To index a file costs embeddings, which no response tells: a request of unknown cost, once its response
 * names the operation that does it.
 */
function fileStoreRoutes(common: Pick<Route, "auth" | "api">): Route[] {
  const free = { ...common, ...FREE } as const;
  const indexing = { ...common, method: "POST", dialect: "gemini", spend: "attach_by_response_id" } as const;
  const store = `${GOOGLE_STORES}/{id}`;
  const document = `${store}/documents/{id}`;
  const operations = [`${store}/operations/{id}`, `${store}/upload/operations/{id}`];
  const read = [GOOGLE_STORES, store, `${store}/documents`, document, ...operations];
  return [
    ...read.map((path): Route => ({ ...free, method: "GET", path })),
    { ...common, ...CREATES, path: GOOGLE_STORES },
    { ...free, method: "DELETE", path: store },
    { ...free, method: "DELETE", path: document },
    { ...indexing, path: STORE_IMPORT, accepts: JSON_ONLY },
    { ...indexing, path: STORE_UPLOAD, accepts: ["json", "bytes"] },
  ];
}

/** How the upstream's configuration wants the key on the routes of an API; null when it leaves that to the route. */
function authFor({ auth }: Upstream, api: Api): RouteAuth | null {
  return typeof auth === "object" ? (auth?.[api] ?? null) : auth;
}
