import type { Upstream } from "../../core/config/config.ts";
import { UpstreamQuery } from "../../core/http/upstream-query.ts";
import { buildCredentialHeader } from "../../core/http/credential-headers.ts";
import { googleBasePath } from "../../core/http/gemini/google-path.ts";
import { GOOGLE_LIST } from "../../core/http/routes.ts";
import { listRoutes } from "../../core/http/built-in-routes.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { Dial } from "./dial.ts";
import { commonHeaders, requestOnce, type OwnResponse } from "./single-request.ts";

/**
 * Requests an upstream's list of models with its key.
 * @param list Google's list or the other APIs', and the raw query, with its leading `?` or empty
 */
export function requestModels(
  upstream: Upstream,
  secret: Secret,
  dial: Dial,
  list: { isGoogle: boolean; query: string },
  signal: AbortSignal,
): Promise<OwnResponse> {
  const path = modelsPath(upstream, list.isGoogle) + new UpstreamQuery(upstream).compose(list.query);
  const credential = Object.entries(buildCredential(upstream, secret, list.isGoogle)).flat();
  const headers = [...commonHeaders(upstream.origin), ...credential];
  return requestOnce({ method: "GET", path, headers, body: null }, secret, dial, signal);
}

/** The path of an upstream's list. */
export function modelsPath({ basePath, origin }: Upstream, isGoogle: boolean): string {
  if (!isGoogle) return `${basePath}/models`;
  return googleBasePath(basePath) + (VERTEX.test(origin) ? VERTEX_MODELS : GOOGLE_LIST);
}

/** The hosts of Vertex: one for all regions, one for each, and those of the EU and the US (npm `@anthropic-ai/vertex-sdk`). */
const VERTEX = /^https:\/\/(?:[a-z0-9-]+-)?aiplatform(?:\.(?:eu|us)\.rep)?\.googleapis\.com$/;

/** Vertex has a list for each publisher, and none of all models (npm `@google/genai`, `models.list`). */
const VERTEX_MODELS = "/v1beta1/publishers/google/models";

/** The headers of the route of the list, as the daemon sends them. */
function buildCredential(upstream: Upstream, secret: Secret, isGoogle: boolean): Record<string, string> {
  const list = isGoogle ? GOOGLE_LIST : "/models";
  const auth = listRoutes(upstream).find(({ path }) => path === list)?.auth ?? "bearer";
  if (auth === "none" || auth === "sigv4") return upstream.headers;
  const [header, value] = buildCredentialHeader(auth, secret);
  const version = auth === "x-api-key" ? { "anthropic-version": upstream.anthropicVersion } : {};
  return { ...version, ...upstream.headers, [header]: value };
}
