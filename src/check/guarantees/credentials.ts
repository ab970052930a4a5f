import assert from "node:assert/strict";
import type { Config, RouteAuth, Upstream } from "../../core/config/config.ts";
import { APIS, type Api } from "../../core/http/api.ts";
import { keyNameOfTool, upstreamsForTool } from "../../core/policy/tool-access.ts";
import { resolveKeyRef } from "../../core/policy/configured-keys.ts";
import { headerValues, post, type TestRequest } from "../client.ts";
import {
  firstKey,
  firstUpstream,
  sendThrough,
  STOP_AND_REPORT,
  type Guarantee,
  type IsolatedProxy,
} from "../guarantee.ts";
import type { RecordedRequest } from "../recording-upstream.ts";
import { randomWord } from "../samples.ts";

/** Headers in which clients send credentials, and spellings that some servers treat as the same. */
const CREDENTIAL_HEADERS = [
  "authorization",
  "x-api-key",
  "api-key",
  "x_api_key",
  "x-goog-api-key",
  "proxy-authorization",
  "cookie",
  "chatgpt-account-id",
];

/** The query parameter in which some clients send one. */
const CREDENTIAL_PARAMETER = "api_key";

/** The headers in which a key can be sent. */
const SCHEME_HEADERS = ["authorization", "x-api-key", "api-key"];

const NO_UPSTREAM = "the configuration has no upstream";

/** The right key goes to the right upstream, and no other credential goes anywhere. */
export const CREDENTIAL_GUARANTEES: readonly Guarantee[] = [
  {
    name: "credentials",
    proves: "credentials of clients are not forwarded; each route sends the configured key, exactly once",
    remedy: `the key, or a tool's own credential, would be sent to the wrong place; ${STOP_AND_REPORT}`,
    async verify(proxy) {
      const upstream = firstUpstream(proxy.config);
      for (const [request, auth] of sampleRoutes(upstream, isShared(proxy.config))) {
        const word = randomWord();
        const headers = CREDENTIAL_HEADERS.map((name) => [name, `Bearer ${word}`] as const);
        const path = `${request.path}?${CREDENTIAL_PARAMETER}=${word}`;
        const { received } = await sendThrough(proxy, { ...request, path, headers });
        const isAllowed = upstream.allowQuery.includes(CREDENTIAL_PARAMETER);
        assert.ok(
          isAllowed || !received.path.includes(word),
          `${request.path}: the client's query reached the upstream`,
        );
        const leak = received.headers.findIndex((text) => text.includes(word));
        const leakedHeader = received.headers[leak - 1];
        assert.ok(leak === -1, `${request.path}: the client's ${leakedHeader} reached the upstream`);
        assertKey(proxy, received, auth, firstKey(proxy.config));
      }
    },
  },
  {
    name: "tools",
    proves:
      "each configured tool reaches the first upstream that it may use with its own key, any other tool the first of all",
    remedy: `one tool's usage would be billed to another tool's key; check the configuration with: tollkeeper config check`,
    async verify(proxy) {
      for (const tool of [randomWord(), ...Object.keys(proxy.config.tools)]) {
        const upstream = upstreamsForTool(proxy.config, tool)[0] ?? assert.fail(NO_UPSTREAM);
        const { received } = await sendThrough(proxy, post(`/t/${tool}/v1/messages`));
        const [path, expected] = [received.path, `${upstream.basePath}/messages`];
        assert.ok(path === expected, `${tool}: requested ${path} from the upstream instead of ${expected}`);
        const { name } = resolveKeyRef(upstream, keyNameOfTool(proxy.config, tool));
        assertKey(proxy, received, schemeFor(upstream, "messages") ?? "x-api-key", name);
      }
    },
  },
];

/** A request of one route, and the auth scheme it carries when it reaches the upstream. */
type RouteSample = [request: TestRequest, auth: RouteAuth];

/** Several upstreams share the list of models, which is then made of responses to requests of our own. */
export function isShared({ upstreams }: Config): boolean {
  return Object.keys(upstreams).length > 1;
}

/**
 * Returns a request for each of the service's routes and each that the configuration adds; for the list only if one upstream has it. The
 * routes are written down once more here: a list that came from the program would not show a route that it lost.
 */
function sampleRoutes(upstream: Upstream, isListShared: boolean): RouteSample[] {
  const added = upstream.routes.map(({ method, path, auth }): RouteSample => {
    const sent = upstream.auth === "none" ? upstream.auth : auth;
    return [sample(method, path), sent];
  });
  const [messages, responses, chat] = APIS.map((api) => schemeFor(upstream, api));
  const builtIn: RouteSample[] = [
    ...(isListShared ? [] : [[sample("GET", "/models"), responses ?? "bearer"] as RouteSample]),
    ...RESPONSES_ROUTES.map(([method, path]): RouteSample => [sample(method, path), responses ?? "bearer"]),
    [sample("POST", "/messages"), messages ?? "x-api-key"],
    [sample("POST", "/messages/count_tokens"), messages ?? upstream.countTokensAuth],
    ...AUDIO_PATHS.map((path): RouteSample => [sample("POST", path), responses ?? "bearer"]),
    ...CHAT_PATHS.map((path): RouteSample => [sample("POST", path), chat ?? "bearer"]),
    [sample("GET", "/models/{id}"), responses ?? "bearer"],
  ];
  // What the configuration says of a route counts.
  const own = new Set(added.map(([{ method, path }]) => `${method} ${path}`));
  return [...builtIn.filter(([{ method, path }]) => !own.has(`${method} ${path}`)), ...added];
}

const RESPONSES_ROUTES = [
  ["POST", "/responses"],
  ["POST", "/responses/compact"],
  ["POST", "/responses/input_tokens"],
  ["GET", "/responses/{id}"],
  ["POST", "/responses/{id}/cancel"],
  ["DELETE", "/responses/{id}"],
  ["GET", "/responses/{id}/input_items"],
  ["POST", "/alpha/search"],
] as const;

const AUDIO_PATHS = ["/audio/speech", "/audio/transcriptions", "/audio/translations"];

const CHAT_PATHS = ["/chat/completions", "/completions", "/embeddings", "/moderations", "/rerank"];

function sample(method: string, path: string): TestRequest {
  const whole = `/v1${path.replace("{id}", "id_1")}`;
  return method === "POST" ? post(whole) : { method, path: whole };
}

/** How the configuration wants the key on the routes of an API; null where the route decides. */
function schemeFor({ auth }: Upstream, api: Api): RouteAuth | null {
  return auth === null || typeof auth === "string" ? auth : (auth[api] ?? null);
}

/** Throws unless the request carries the key with this name exactly once, or none if none is expected, and no other credential. */
function assertKey(
  { keyNamed }: IsolatedProxy,
  { path, headers }: RecordedRequest,
  auth: RouteAuth,
  name: string,
): void {
  if (auth === "none") return assertNoKey(path, headers);
  const header = auth === "bearer" ? "authorization" : auth;
  const expected = auth === "bearer" ? `Bearer ${keyNamed(name)}` : keyNamed(name);
  const values = headerValues(headers, header);
  assert.ok(values.length === 1, `${path}: ${values.length} ${header} headers instead of one`);
  assert.ok(values[0] === expected, `${path}: ${header} is not the key called ${name}`);
  const other = SCHEME_HEADERS.find((one) => one !== header && headerValues(headers, one).length > 0);
  assert.ok(other === undefined, `${path}: ${other} is sent in addition to ${header}`);
}

function assertNoKey(path: string, headers: RecordedRequest["headers"]): void {
  const count = SCHEME_HEADERS.flatMap((name) => headerValues(headers, name)).length;
  assert.ok(count === 0, `${path}: a key is sent to an upstream that takes none`);
}
