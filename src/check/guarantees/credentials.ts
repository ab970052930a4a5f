import assert from "node:assert/strict";
import type { RouteAuth, Upstream } from "../../core/config/config.ts";
import { resolveKeyRef, upstreamForTool } from "../../core/policy/upstreams.ts";
import { headerValues, post, type TestRequest } from "../client.ts";
import { sendThrough, STOP_AND_REPORT, type Guarantee, type IsolatedProxy } from "../guarantee.ts";
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

const NO_UPSTREAM = "the configuration has no upstream";

/** The right key goes to the right upstream, and no other credential goes anywhere. */
export const CREDENTIAL_GUARANTEES: readonly Guarantee[] = [
  {
    name: "credentials",
    proves: "credentials of clients are not forwarded; each route sends the configured key, exactly once",
    remedy: `the key, or a tool's own credential, would be sent to the wrong place; ${STOP_AND_REPORT}`,
    async verify(proxy) {
      const upstream = proxy.config.upstreams["default"] ?? assert.fail(NO_UPSTREAM);
      for (const [request, auth] of sampleRoutes(upstream)) {
        const word = randomWord();
        const headers = CREDENTIAL_HEADERS.map((name) => [name, `Bearer ${word}`] as const);
        const { received } = await sendThrough(proxy, { ...request, headers });
        const leak = received.headers.findIndex((text) => text.includes(word));
        const leakedHeader = received.headers[leak - 1];
        assert.ok(leak === -1, `${request.path}: the client's ${leakedHeader} reached the upstream`);
        assertKey(proxy, received, auth, upstream.key);
      }
    },
  },
  {
    name: "tools",
    proves: "each configured tool reaches its own upstream with its own key, any other tool the default",
    remedy: `one tool's usage would be billed to another tool's key; check the configuration with: tollkeeper config check`,
    async verify(proxy) {
      for (const tool of [randomWord(), ...Object.keys(proxy.config.tools)]) {
        const upstream = upstreamForTool(proxy.config, tool) ?? assert.fail(NO_UPSTREAM);
        const { received } = await sendThrough(proxy, post(`/t/${tool}/v1/messages`));
        const [path, expected] = [received.path, `${upstream.basePath}/messages`];
        assert.ok(path === expected, `${tool}: requested ${path} from the upstream instead of ${expected}`);
        const key = Object.hasOwn(proxy.config.tools, tool) ? proxy.config.tools[tool]?.key : null;
        assertKey(proxy, received, upstream.auth ?? "x-api-key", resolveKeyRef(upstream, key ?? null).name);
      }
    },
  },
];

/** A request of one route, and the auth scheme it carries when it reaches the upstream. */
type RouteSample = [request: TestRequest, auth: RouteAuth];

/** Returns a request for each of the service's routes and each that the configuration adds. */
function sampleRoutes(upstream: Upstream): RouteSample[] {
  const added = upstream.routes.map(({ method, path, auth }): RouteSample => {
    const fullPath = `/v1${path.replace("{id}", "id_1")}`;
    const sent = upstream.auth === "none" ? upstream.auth : auth;
    return [method === "POST" ? post(fullPath) : { method, path: fullPath }, sent];
  });
  const { auth } = upstream;
  return [
    [{ method: "GET", path: "/v1/models" }, auth ?? "bearer"],
    [post("/v1/responses"), auth ?? "bearer"],
    [post("/v1/messages"), auth ?? "x-api-key"],
    [post("/v1/messages/count_tokens"), auth ?? upstream.countTokensAuth],
    [post("/v1/chat/completions"), auth ?? "bearer"],
    [post("/v1/completions"), auth ?? "bearer"],
    [post("/v1/embeddings"), auth ?? "bearer"],
    ...added,
  ];
}

/** Throws unless the request carries the key with this name exactly once, or none if none is expected, and no other credential. */
function assertKey(
  { keyNamed }: IsolatedProxy,
  { path, headers }: RecordedRequest,
  auth: RouteAuth,
  name: string,
): void {
  if (auth === "none") return assertNoKey(path, headers);
  const [header, other] = auth === "bearer" ? ["authorization", "x-api-key"] : ["x-api-key", "authorization"];
  const expected = auth === "bearer" ? `Bearer ${keyNamed(name)}` : keyNamed(name);
  const values = headerValues(headers, header);
  assert.ok(values.length === 1, `${path}: ${values.length} ${header} headers instead of one`);
  assert.ok(values[0] === expected, `${path}: ${header} is not the key called ${name}`);
  assert.ok(headerValues(headers, other).length === 0, `${path}: ${other} is sent in addition to ${header}`);
}

function assertNoKey(path: string, headers: RecordedRequest["headers"]): void {
  const count = ["authorization", "x-api-key"].flatMap((name) => headerValues(headers, name)).length;
  assert.ok(count === 0, `${path}: a key is sent to an upstream that takes none`);
}
