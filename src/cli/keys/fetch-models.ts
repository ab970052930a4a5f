import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Upstream } from "../../core/config/config.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { codeOf, Failure } from "../../core/failure.ts";
import { FixedQuery } from "../../core/http/fixed-query.ts";
import { buildCredentialHeader } from "../../core/http/headers.ts";
import { listRoutes } from "../../core/http/routes.ts";
import { parseJson } from "../../core/json.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { createDialer } from "../../proxy/upstream/dial.ts";
import { explainConnectFailure, type ConnectFailure } from "../../proxy/upstream/failures.ts";
import { NO_CODE } from "../../proxy/upstream/tunnel.ts";

/** Time limit for the whole exchange, milliseconds. */
const LIMIT_MS = 10_000;

/** Far more than a list of models takes. The rest is not read. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The response of an upstream that accepted a key, and how it was reached. Times are in milliseconds. */
export interface ModelsResponse {
  /** How many models the key may use. */
  models: number;
  /** Until the connection is ready: TCP, the proxy's tunnel and TLS. */
  connectMs: number;
  /** From then to the end of the response. */
  responseMs: number;
  /** null over plain http. */
  tls: { protocol: string; certificateEnds: Date } | null;
  /** Origin of the outbound proxy; null when none was used. */
  proxy: string | null;
  /** The upstream's clock, from its `date` header, milliseconds since 1970; null when it sent none. */
  date: number | null;
}

/**
 * An upstream did not confirm a key.
 * - `refused`: it rejected the key
 * - `undecided`: its response says nothing about the key
 * - `unreachable`: there was no response
 */
export class KeyCheckFailure extends Failure {
  readonly code: "refused" | "undecided" | "unreachable";
  /** What the upstream's base URL probably is, if not the one that was asked. */
  readonly likelyBaseUrl: string | null;

  constructor(
    code: KeyCheckFailure["code"],
    message: string,
    hint: string,
    likelyBaseUrl: string | null = null,
  ) {
    super(message, hint);
    this.code = code;
    this.likelyBaseUrl = likelyBaseUrl;
  }
}

interface RawResponse extends Omit<ModelsResponse, "models"> {
  status: number;
  contentType: string;
  text: string;
}

/**
 * Requests the upstream's list of models with the key, through the same outbound proxy and TLS settings as the daemon.
 * @throws KeyCheckFailure unless the upstream accepts the key
 */
export async function fetchModels(
  upstream: Upstream,
  secret: Secret,
  outbound: Outbound,
): Promise<ModelsResponse> {
  const { name, baseUrl } = upstream;
  const { status, contentType, text, ...rest } = await get(upstream, secret, outbound);
  const models = status >= 200 && status < 300 ? countModels(text) : null;
  if (models !== null) return { models, ...rest };
  const page = describeForeign(status, contentType);
  if (page !== null) {
    const message = `the key could not be verified: ${baseUrl}/models responded with ${page}`;
    const likely = guessBaseUrl(upstream);
    throw new KeyCheckFailure("undecided", message, suggestBaseUrl(upstream, likely), likely);
  }
  const summary = `${status}${messageIn(text, secret)}`;
  if (status === 401 || status === 403) {
    throw new KeyCheckFailure(
      "refused",
      `the key was rejected: ${baseUrl} responded with ${summary}`,
      `if the key is wrong, replace it with: tollkeeper key set${name === "default" ? "" : ` --upstream ${name}`} --replace`,
    );
  }
  throw new KeyCheckFailure(
    "undecided",
    `the key could not be verified: ${baseUrl} responded with ${summary}`,
    "try again later with: tollkeeper key test",
  );
}

/** Names a response that is not that of an API with a list of models; null for one that may be. */
function describeForeign(status: number, contentType: string): string | null {
  if (status >= 300 && status < 400) return `a redirect (${status}), which tollkeeper never follows`;
  if (contentType.startsWith("text/html")) return `a web page (${status})`;
  if (status === 404 || status === 405) return String(status);
  return status >= 200 && status < 300 ? "something other than a list of models" : null;
}

/** The path of the API at services whose origin is known; `/v1` everywhere else. */
const API_PATHS: Readonly<Record<string, string>> = { "https://openrouter.ai": "/api/v1" };

/** Returns what the base URL probably is; null when it is that already. */
function guessBaseUrl({ baseUrl, origin }: Upstream): string | null {
  const likely = `${origin}${API_PATHS[origin] ?? "/v1"}`;
  return likely === baseUrl ? null : likely;
}

function suggestBaseUrl({ name }: Upstream, likely: string | null): string {
  const place = `upstreams.${name}.baseUrl`;
  if (likely === null) return `it may still work; if not, correct ${place} with: tollkeeper config edit`;
  return `the base URL is probably ${likely}; to use it, type: tollkeeper config set ${place} ${likely}`;
}

/** Does not use `fetch`, which follows redirects by default (SECURITY.md B4) and ignores our proxy and TLS settings. */
async function get(upstream: Upstream, secret: Secret, outbound: Outbound): Promise<RawResponse> {
  const url = new URL(`${upstream.baseUrl}/models${new FixedQuery(upstream.query).addTo("")}`);
  const dial = createDialer(outbound)(url.origin);
  const proxy = dial.isProxied ? (outbound.proxy?.origin ?? null) : null;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const startedAt = performance.now();
  const socket = dial.open();
  let connectedAt = startedAt;
  socket.once(dial.readyEvent, () => (connectedAt = performance.now()));
  try {
    const response = await send(socket, url, upstream, secret, signal);
    const tls = describeTls(socket);
    const text = await readText(response);
    const [connectMs, responseMs] = [connectedAt - startedAt, performance.now() - connectedAt];
    const sentAt = Date.parse(response.headers.date ?? "");
    const date = Number.isNaN(sentAt) ? null : sentAt;
    const contentType = response.headers["content-type"] ?? "";
    return { status: response.statusCode ?? 0, contentType, text, connectMs, responseMs, tls, proxy, date };
  } catch (error) {
    const through = proxy === null ? "" : ` through the proxy ${proxy}`;
    const { why, fix } = signal.aborted
      ? { why: `no response within ${LIMIT_MS / 1000} seconds${through}`, fix: null }
      : explain(error);
    const hint =
      fix === null
        ? "check the network, and the base URL with: tollkeeper config check"
        : `${fix} with: tollkeeper config edit`;
    throw new KeyCheckFailure("unreachable", `cannot connect to ${url.origin}: ${why}`, hint);
  } finally {
    socket.destroy();
  }
}

function send(
  socket: Socket,
  url: URL,
  upstream: Upstream,
  secret: Secret,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = {
    host: url.host,
    ...buildCredential(upstream, secret),
    accept: "application/json",
    "accept-encoding": "identity",
    connection: "close",
  };
  const options = {
    path: url.pathname + url.search,
    headers,
    setHost: false,
    insecureHTTPParser: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    // The socket does TLS itself, so this is plain HTTP to Node.
    request({ ...options, createConnection: () => socket }, resolve)
      .once("error", reject)
      .end();
  });
}

/** The headers of the route `GET /models`, as the daemon sends them. */
function buildCredential(upstream: Upstream, secret: Secret): Record<string, string> {
  const auth = listRoutes(upstream).find(({ path }) => path === "/models")?.auth ?? "bearer";
  if (auth === "none") return upstream.headers;
  const [header, value] = buildCredentialHeader(auth, secret);
  const version = auth === "x-api-key" ? { "anthropic-version": upstream.anthropicVersion } : {};
  return { ...version, ...upstream.headers, [header]: value };
}

function describeTls(socket: Socket): ModelsResponse["tls"] {
  if (!(socket instanceof TLSSocket)) return null;
  const { valid_to: end } = socket.getPeerCertificate();
  return { protocol: socket.getProtocol() ?? "unknown", certificateEnds: new Date(end) };
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    // Leaving the loop closes the connection.
    if (size > MAX_BODY_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Explains an error, with its code for people who search for it. */
function explain(error: unknown): ConnectFailure {
  if (!(error instanceof Error)) return { why: String(error), fix: null };
  const { why, fix } = explainConnectFailure(error);
  const code = codeOf(error.cause instanceof Error ? error.cause : error) ?? NO_CODE;
  return { why: why.includes(code) ? why : `${why}, ${code}`, fix };
}

/** Both APIs list models as `{"data": [...]}`. */
function countModels(text: string): number | null {
  const body = parseJson(text) as { data?: unknown } | null | undefined;
  return Array.isArray(body?.data) ? body.data.length : null;
}

/** Returns `: ` and the upstream's error message, if there is one. The key is redacted before the text is truncated. */
function messageIn(text: string, secret: Secret): string {
  const body = parseJson(text) as { error?: { message?: unknown } } | null | undefined;
  const message = body?.error?.message;
  const words = secret.redactText(typeof message === "string" ? message : text).trim();
  return words === "" ? "" : `: ${toPrintable(words.slice(0, 300))}`;
}
