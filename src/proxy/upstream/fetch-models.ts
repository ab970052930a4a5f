import type { Upstream } from "../../core/config/config.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { codeOf, Failure } from "../../core/failure.ts";
import { InvalidResponse } from "../../core/http/framing.ts";
import { parseJson } from "../../core/json.ts";
import { resolveKeyRef } from "../../core/policy/configured-keys.ts";
import { whyUnlikely } from "../../core/secrets/api-key.ts";
import { SEND_KEY, whereToReplace, type KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { createDialer } from "./dial.ts";
import {
  explainConnectFailure,
  isUntrusted,
  wantsTls,
  type ConnectFailure,
} from "../../core/refusals/upstreams.ts";
import { servesOnlyBedrock, servesOnlyGoogle } from "../../core/http/api.ts";
import { googleBasePath } from "../../core/http/gemini/google-path.ts";
import { isRedirect } from "../../core/upstream-health.ts";
import { speaksTls } from "./plain-server.ts";
import { modelsPath, requestModels } from "./request-models.ts";
import type { OwnResponse } from "./single-request.ts";
import { askUnknownModel, judgeCredential, unknownModelPath } from "./try-bedrock.ts";
import { NO_CODE } from "../../core/http/tunnel-response.ts";

/** Time limit for the whole exchange, milliseconds. */
const LIMIT_MS = 10_000;

/** The response of an upstream that accepted a key, and how it was reached. */
export interface KeyCheck extends Omit<
  OwnResponse,
  "status" | "contentType" | "location" | "etag" | "errorType" | "text"
> {
  /** How many models the key may use; null for Amazon Bedrock, which has no list of them there. */
  models: number | null;
  /** Origin of the outbound proxy; null when none was used. */
  proxy: string | null;
}

/**
 * An upstream did not confirm a key.
 * - `refused`: it rejected the key
 * - `undecided`: its response says nothing about the key
 * - `web_page`: a web page responds in place of the API
 * - `redirect`: a redirect does, which is never followed
 * - `unreachable`: there was no response
 */
export class KeyCheckFailure extends Failure {
  readonly code: "refused" | "undecided" | "web_page" | "redirect" | "unreachable";
  /** What the upstream's base URL probably is, if not the one that was asked. */
  readonly likelyBaseUrl: string | null;
  /** True when there was no response because a certificate's issuer is not trusted. */
  readonly isUntrusted: boolean;

  constructor(
    code: KeyCheckFailure["code"],
    message: string,
    hint: string,
    likelyBaseUrl: string | null = null,
    isCausedByTrust = false,
  ) {
    super(message, hint);
    this.code = code;
    this.likelyBaseUrl = likelyBaseUrl;
    this.isUntrusted = isCausedByTrust;
  }
}

interface RawResponse extends OwnResponse {
  proxy: string | null;
}

/**
 * Requests the upstream's list of models with the key, through the same outbound proxy and TLS settings as the daemon. Amazon Bedrock,
 * which has none, is asked for a model that does not exist.
 * @param ref the key, for the hint
 * @throws KeyCheckFailure unless the upstream accepts the key
 */
export async function fetchModels(
  upstream: Upstream,
  secret: Secret,
  outbound: Outbound,
  ref: KeyRef = resolveKeyRef(upstream, null),
): Promise<KeyCheck> {
  const { baseUrl } = upstream;
  const response = await get(upstream, secret, outbound);
  const { status, contentType, location, text, connectMs, responseMs, tls, date, proxy } = response;
  const reached = { connectMs, responseMs, tls, date, proxy };
  const verdict = servesOnlyBedrock(upstream) ? judgeCredential(response) : null;
  if (verdict === "accepted") return { models: null, ...reached };
  const models = verdict === null && status >= 200 && status < 300 ? countModels(text, upstream) : null;
  if (models !== null) return { models, ...reached };
  if (status === 400 && !/json/i.test(contentType) && (await mayWantTls(upstream)))
    throw unreachable(upstream, wantsTls(upstream));
  if (isRedirect(status)) throw redirected(upstream, status, location);
  const page = describeForeign(status, contentType);
  if (page !== null && (verdict === null || isWebPage(contentType))) {
    const message = `the key could not be verified: ${listUrl(upstream)} responded with ${page}`;
    const likely = guessBaseUrl(upstream);
    if (isWebPage(contentType)) throw webPage(upstream, message, likely);
    throw new KeyCheckFailure("undecided", message, suggestBaseUrl(upstream, likely), likely);
  }
  const summary = `${status}${messageIn(text, secret)}`;
  if (status === 401 || status === 403 || isBadGoogleKey(status, text))
    throw refused(`${baseUrl} responded with ${summary}`, secret, ref);
  if (verdict !== null)
    throw new KeyCheckFailure(
      "undecided",
      `the key could not be verified: ${listUrl(upstream)} responded with ${summary}`,
      "the first request of a tool shows whether the key works",
    );
  throw new KeyCheckFailure(
    "undecided",
    `the key could not be verified: ${baseUrl} responded with ${summary}`,
    "try again later with: tollkeeper key test",
  );
}

function refused(response: string, secret: Secret, ref: KeyRef): KeyCheckFailure {
  if (ref.source.kind === "none")
    return new KeyCheckFailure("refused", `a request without a key was rejected: ${response}`, SEND_KEY);
  const message = `the key was rejected: ${response}`;
  const unlikely = whyUnlikely(secret);
  const place = whereToReplace(ref);
  if (unlikely === null)
    return new KeyCheckFailure("refused", message, `if the key is wrong, replace it ${place}`);
  const what = `${message}; it does not look like an API key: ${unlikely.reason}`;
  return new KeyCheckFailure("refused", what, `${unlikely.fix}, ${place}`);
}

/** Nothing that a tool can use comes from there, whatever the key is. */
function webPage(upstream: Upstream, message: string, likely: string | null): KeyCheckFailure {
  const cause = `${message}; the base URL is wrong, or a proxy or a network login is in between`;
  const see = `see what responds: ${formatCommand(["curl", "-sSi", listUrl(upstream)])}`;
  return new KeyCheckFailure(
    "web_page",
    cause,
    likely === null ? see : suggestBaseUrl(upstream, likely),
    likely,
  );
}

/** Tools would get the redirect, too. */
function redirected(upstream: Upstream, status: number, location: string | null): KeyCheckFailure {
  const { name } = upstream;
  const target = location === null ? null : readTarget(location, listUrl(upstream));
  const to = target === null ? "" : ` to ${target}`;
  const message = `the key could not be verified: ${listUrl(upstream)} redirects${to} (${status}), and tollkeeper never follows a redirect`;
  if (target === null || !target.endsWith("/models")) {
    const likely = guessBaseUrl(upstream);
    const see = `see where it leads: ${formatCommand(["curl", "-sSi", listUrl(upstream)])}`;
    return new KeyCheckFailure(
      "redirect",
      message,
      likely === null ? see : suggestBaseUrl(upstream, likely),
      likely,
    );
  }
  const likely = target.slice(0, -"/models".length);
  const command = formatCommand(["tollkeeper", "config", "set", `upstreams.${name}.baseUrl`, likely]);
  return new KeyCheckFailure("redirect", message, `if that is the API, type: ${command}`, likely);
}

/** Returns the address that a redirect leads to, without its query, which may hold a secret; null for what is none. */
function readTarget(location: string, from: string): string | null {
  if (!URL.canParse(location, from)) return null;
  const { protocol, origin, pathname } = new URL(location, from);
  return /^https?:$/.test(protocol) ? toPrintable(origin + pathname) : null;
}

function isWebPage(contentType: string): boolean {
  return /^\s*text\/html/i.test(contentType);
}

/** Names a response that is not that of an API with a list of models; null for one that may be. */
function describeForeign(status: number, contentType: string): string | null {
  if (isWebPage(contentType)) return `a web page (${status})`;
  if (status === 404 || status === 405) return String(status);
  return status >= 200 && status < 300 ? "something other than a list of models" : null;
}

/** The path of the API at services whose origin is known; `/v1` everywhere else. */
const API_PATHS: Readonly<Record<string, string>> = {
  "https://openrouter.ai": "/api/v1",
  "https://generativelanguage.googleapis.com": "/v1beta/openai",
};

/** Returns what the base URL probably is; null when it is that already. */
function guessBaseUrl(upstream: Upstream): string | null {
  const { baseUrl, basePath, origin } = upstream;
  if (servesOnlyBedrock(upstream)) return null;
  // A version at the end is left out for Google's paths.
  if (servesOnlyGoogle(upstream) && googleBasePath(basePath) === "") return null;
  const likely = servesOnlyGoogle(upstream) ? origin : `${origin}${API_PATHS[origin] ?? "/v1"}`;
  return likely === baseUrl ? null : likely;
}

function suggestBaseUrl({ name }: Upstream, likely: string | null): string {
  const place = `upstreams.${name}.baseUrl`;
  if (likely === null) return `it may still work; if not, correct ${place} with: tollkeeper config edit`;
  return `the base URL is probably ${likely}; to use it, type: tollkeeper config set ${place} ${likely}`;
}

/** The address that was asked. */
function listUrl(upstream: Upstream): string {
  if (servesOnlyBedrock(upstream)) return upstream.origin + unknownModelPath(upstream);
  return upstream.origin + modelsPath(upstream, servesOnlyGoogle(upstream));
}

/** Google's status for a wrong key is 400 (docs/wire.md section 12). */
function isBadGoogleKey(status: number, text: string): boolean {
  return status === 400 && text.includes("API_KEY_INVALID");
}

async function get(upstream: Upstream, secret: Secret, outbound: Outbound): Promise<RawResponse> {
  const dial = createDialer(outbound)(upstream.origin);
  const proxy = dial.isProxied ? (outbound.proxy?.origin ?? null) : null;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const list = { isGoogle: servesOnlyGoogle(upstream), query: "" };
  try {
    const response = servesOnlyBedrock(upstream)
      ? askUnknownModel(upstream, secret, dial, signal)
      : requestModels(upstream, secret, dial, list, signal);
    return { ...(await response), proxy };
  } catch (error) {
    const through = proxy === null ? "" : ` through the proxy ${proxy}`;
    const failure = signal.aborted
      ? { why: `no response within ${LIMIT_MS / 1000} seconds${through}`, fix: null }
      : await explain(error, upstream);
    throw unreachable(upstream, failure, isUntrusted(error));
  }
}

function unreachable({ origin }: Upstream, failure: ConnectFailure, untrusted = false): KeyCheckFailure {
  const { why, fix, command, likelyBaseUrl: likely = null } = failure;
  const hint =
    fix === null
      ? `see whether it responds at all: ${formatCommand(["curl", "-sS", "-o", "/dev/null", origin])}`
      : `${fix}${fix.endsWith("?") ? " Type:" : " with:"} ${command ?? "tollkeeper config edit"}`;
  return new KeyCheckFailure("unreachable", `cannot connect to ${origin}: ${why}`, hint, likely, untrusted);
}

/** Explains an error, with its code for people who search for it. */
async function explain(error: unknown, upstream: Upstream): Promise<ConnectFailure> {
  if (!(error instanceof Error)) return { why: String(error), fix: null };
  if (error instanceof InvalidResponse) return { why: error.message, fix: null };
  if (await mayWantTls(upstream)) return wantsTls(upstream);
  const failure = explainConnectFailure(error, upstream, process.platform);
  const code = codeOf(error.cause instanceof Error ? error.cause : error) ?? NO_CODE;
  return { ...failure, why: failure.why.includes(code) ? failure.why : `${failure.why}, ${code}` };
}

async function mayWantTls({ origin }: Upstream): Promise<boolean> {
  return origin.startsWith("http:") && (await speaksTls(origin));
}

/** Google lists models as `{"models": [...]}`, Vertex as `{"publisherModels": [...]}`, all others as `{"data": [...]}`. */
function countModels(text: string, upstream: Upstream): number | null {
  const body = parseJson(text) as
    | { data?: unknown; models?: unknown; publisherModels?: unknown }
    | null
    | undefined;
  const models = servesOnlyGoogle(upstream) ? (body?.models ?? body?.publisherModels) : body?.data;
  return Array.isArray(models) ? models.length : null;
}

/** Returns `: ` and the upstream's error message, if there is one. The key is redacted before the text is truncated. */
function messageIn(text: string, secret: Secret): string {
  const body = parseJson(text) as
    | { error?: { message?: unknown }; message?: unknown; Message?: unknown }
    | null
    | undefined;
  const message = body?.error?.message ?? body?.message ?? body?.Message;
  const words = secret.redactText(typeof message === "string" ? message : text).trim();
  return words === "" ? "" : `: ${toPrintable(words.slice(0, 300))}`;
}
