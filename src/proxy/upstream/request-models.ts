import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Upstream } from "../../core/config/config.ts";
import { UpstreamQuery } from "../../core/http/upstream-query.ts";
import { buildCredentialHeader } from "../../core/http/credential-headers.ts";
import { InvalidResponse } from "../../core/http/framing.ts";
import { MOST_INTERIM, TOO_MANY_INTERIM } from "../../core/http/response-parser.ts";
import { readStart } from "../../core/http/read-start.ts";
import { googleBasePath } from "../../core/http/gemini/google-path.ts";
import { GOOGLE_LIST } from "../../core/http/routes.ts";
import { listRoutes } from "../../core/http/built-in-routes.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { Dial } from "./dial.ts";

/** Far more than a list of models takes. The rest is not read. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** An upstream's response to `GET /models`, and how it was reached. Times are in milliseconds. */
export interface ModelsResponse {
  status: number;
  contentType: string;
  /** Where a redirect leads to, as sent, with the key redacted; null without one. */
  location: string | null;
  /** The version of the list, with the key redacted; null without one (RFC 9110 section 8.8.3). */
  etag: string | null;
  /** With the key redacted. */
  text: string;
  /** Until the connection is ready: TCP, the proxy's tunnel and TLS. */
  connectMs: number;
  /** From then to the end of the response. */
  responseMs: number;
  /** null over plain http. */
  tls: { protocol: string; certificateEnds: Date } | null;
  /** The upstream's clock, from its `date` header, milliseconds since 1970; null when it sent none. */
  date: number | null;
}

/**
 * Requests an upstream's list of models with its key, over a connection of its own. Does not use `fetch`, which follows redirects
 * by default (SECURITY.md B4) and ignores our proxy and TLS settings.
 * @param list Google's list or the other APIs', and the raw query, with its leading `?` or empty
 */
export async function requestModels(
  upstream: Upstream,
  secret: Secret,
  dial: Dial,
  list: { isGoogle: boolean; query: string },
  signal: AbortSignal,
): Promise<ModelsResponse> {
  const path = modelsPath(upstream, list.isGoogle) + new UpstreamQuery(upstream).compose(list.query);
  const startedAt = performance.now();
  const socket = dial.open();
  let connectedAt = startedAt;
  socket.once(dial.readyEvent, () => (connectedAt = performance.now()));
  try {
    const response = await send(
      socket,
      path,
      buildCredential(upstream, secret, list.isGoogle),
      upstream,
      signal,
    );
    const tls = describeTls(socket);
    const text = secret.redactText((await readStart(response, MAX_BODY_BYTES)).toString());
    const [connectMs, responseMs] = [connectedAt - startedAt, performance.now() - connectedAt];
    const sentAt = Date.parse(response.headers.date ?? "");
    const date = Number.isNaN(sentAt) ? null : sentAt;
    const contentType = response.headers["content-type"] ?? "";
    const { location, etag } = response.headers;
    return {
      status: response.statusCode ?? 0,
      contentType,
      location: location === undefined ? null : secret.redactText(location),
      etag: etag === undefined ? null : secret.redactText(etag),
      text,
      connectMs,
      responseMs,
      tls,
      date,
    };
  } finally {
    socket.destroy();
  }
}

function send(
  socket: Socket,
  path: string,
  credential: Record<string, string>,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = {
    host: new URL(upstream.origin).host,
    ...credential,
    accept: "application/json",
    "accept-encoding": "identity",
    connection: "close",
  };
  const options = { path, headers, setHost: false, insecureHTTPParser: false, signal };
  return new Promise((resolve, reject) => {
    let interim = 0;
    // The socket does TLS itself, so this is plain HTTP to Node.
    const asked = request({ ...options, createConnection: () => socket }, resolve)
      .once("error", reject)
      .on("information", () => {
        interim += 1;
        if (interim > MOST_INTERIM) asked.destroy(new InvalidResponse(TOO_MANY_INTERIM));
      });
    asked.end();
  });
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

function describeTls(socket: Socket): ModelsResponse["tls"] {
  if (!(socket instanceof TLSSocket)) return null;
  const { valid_to: end } = socket.getPeerCertificate();
  return { protocol: socket.getProtocol() ?? "unknown", certificateEnds: new Date(end) };
}
