import { isLoopbackHost } from "../config/base-url.ts";
import type { Upstream } from "../config/config.ts";
import { formatConfigPath } from "../config/problem.ts";
import { codeOf } from "../failure.ts";
import type { Refusal } from "./refusal.ts";
import { quietest } from "./retry-triggers.ts";
import { noWebSocket } from "./routes.ts";
import { formatCommand } from "../text/shell-words.ts";
import { NO_CODE, TunnelError, type TunnelErrorCode } from "../http/tunnel-response.ts";

/** Why a connection could not be opened. */
export interface ConnectFailure {
  why: string;
  /** What to change with `command`; null if that cannot be known here. */
  fix: string | null;
  /** The whole command that makes the change; without it, that is `tollkeeper config edit`. */
  command?: string;
  /** What the base URL probably is. */
  likelyBaseUrl?: string;
}

/** The system on which a connection failed, as Node names it. */
type Platform = NodeJS.Platform;

/** What a message says of an upstream. */
export type NamedUpstream = Pick<Upstream, "name" | "baseUrl" | "origin">;

/** Names an upstream with its address: `upstream "local" (http://127.0.0.1:9104)`. */
export function nameUpstream({ name, origin }: NamedUpstream): string {
  return `upstream "${name}" (${origin})`;
}

/** Tests each upstream and reports what is wrong with it. */
const DOCTOR = "tollkeeper doctor";

/** Words for Node's error codes. */
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "its host name is unknown",
  EAI_AGAIN: "its host name cannot be looked up at the moment; check the network connection",
  EHOSTUNREACH: "there is no route to its host",
  ENETUNREACH: "the network is not reachable",
  ETIMEDOUT: "it did not accept a connection in time",
  ECONNRESET: "it reset the connection before it was established",
  CERT_HAS_EXPIRED: "its certificate has expired, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: "its certificate is not valid yet, or this machine's clock is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  EPROTO: "the TLS handshake with it failed",
};

/** OpenSSL's codes for bytes that are not TLS: the server has answered the handshake in plain text. */
const NOT_TLS = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"]);

/** Where something waits to be written, Node's code is EPROTO, and only the message has OpenSSL's reason. */
export function isNotTls(error: Error): boolean {
  const code = codeOf(error) ?? NO_CODE;
  return (
    NOT_TLS.has(code) ||
    (code === "EPROTO" && /wrong version number|packet length too long/.test(error.message))
  );
}

/** Words for untrusted certificates, by OpenSSL's error codes (X509_STORE_CTX_get_error(3)). */
const UNTRUSTED: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate chain contains a self-signed certificate",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate cannot be verified",
  UNABLE_TO_GET_ISSUER_CERT: "the issuer of its certificate is not trusted on this machine",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the issuer of its certificate is not trusted on this machine",
  CERT_SIGNATURE_FAILURE: "its certificate was not signed by the issuer that it names",
};

/** True for the error of a connection to an upstream, or to the proxy, whose certificate's issuer is not trusted. */
export function isUntrusted(error: unknown): boolean {
  const cause = error instanceof TunnelError ? error.cause : error;
  return (codeOf(cause) ?? "") in UNTRUSTED;
}

/** Without a network, macOS reports every host name as unknown. Linux distinguishes the two (EAI_AGAIN). */
const isUnknownHost = (code: string, platform: Platform) => code === "ENOTFOUND" && platform !== "darwin";

/** Codes of failures that every retry meets again, until something is changed. */
const LASTING = new Set([
  ...Object.keys(UNTRUSTED),
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "EPROTO",
  ...NOT_TLS,
  "ERR_PROXY_NOT_HTTP",
  "ERR_PROXY_AUTH_MISSING",
  "ERR_PROXY_AUTH_WRONG",
  "ERR_PROXY_AUTH_UNKNOWN",
  "ERR_PROXY_REFUSED",
]);

const NAME_AUTHORITY =
  'if your network has a certificate authority of its own, name its file in "outbound.caFile"';

/** What to do about a certificate outside its dates. Only a clock that is known to be right tells whose fault it is. */
const CHECK_CLOCK = {
  fix: "if this machine's clock is right, the server needs a new certificate; check the clock",
  command: "date",
};

const CORRECT_PROXY = 'correct "outbound.httpsProxy"';

/** `detail` is from the {@link TunnelError}. */
const NO_TUNNEL: Record<TunnelErrorCode, (detail: string) => ConnectFailure> = {
  ERR_PROXY_UNREACHABLE: (detail) => ({
    why: `the proxy cannot be reached: ${wordsFor(detail)}`,
    ...(forCertificate(detail) ?? { fix: CORRECT_PROXY }),
  }),
  ERR_PROXY_CLOSED: () => ({
    why: "the proxy closed the connection without a response",
    fix: CORRECT_PROXY,
  }),
  ERR_PROXY_NOT_HTTP: () => ({
    why: "what responds there is not an HTTP proxy",
    fix: CORRECT_PROXY,
  }),
  ERR_PROXY_AUTH_MISSING: () => ({
    why: "the proxy requires a user name and password",
    fix: 'write them into "outbound.httpsProxy" as http://USER:PASSWORD@HOST:PORT',
  }),
  ERR_PROXY_AUTH_WRONG: () => ({
    why: "the proxy rejects the user name and password",
    fix: CORRECT_PROXY,
  }),
  ERR_PROXY_AUTH_UNKNOWN: () => ({
    why: "the proxy requires authentication other than a user name and password",
    fix: 'run a local proxy that supports it, such as px or cntlm, and name that proxy in "outbound.httpsProxy"',
  }),
  ERR_PROXY_REFUSED: (detail) => ({
    why: `the proxy does not allow connections to it (${detail})`,
    fix: 'have the administrator of the proxy allow it, or name the upstream in "outbound.noProxy"',
  }),
  ERR_PROXY_FAILED: (detail) => ({
    why: `the proxy cannot reach it (${detail})`,
    fix: 'try again; if the upstream can be reached without the proxy, name it in "outbound.noProxy"',
  }),
};

/**
 * Explains why a connection could not be opened. Uses error codes only: messages may contain addresses and more. `upstream` is null
 * for another server.
 */
export function explainConnectFailure(
  error: Error,
  upstream: NamedUpstream | null,
  platform: Platform,
): ConnectFailure {
  if (error instanceof TunnelError) return NO_TUNNEL[error.code](error.detail);
  const code = codeOf(error) ?? NO_CODE;
  if (isNotTls(error)) return withoutTls(upstream);
  return { why: wordsFor(code), ...fixFor(code, platform) };
}

/** The server at an https URL does not speak TLS. Plain http is possible on this machine only. */
export function withoutTls(upstream: NamedUpstream | null): ConnectFailure {
  const why = "its server speaks plain HTTP, not TLS";
  if (upstream === null) return { why, fix: null };
  if (!isLoopbackHost(new URL(upstream.baseUrl).hostname)) return { why, fix: 'correct "baseUrl"' };
  return { why, ...withScheme(upstream, "http:") };
}

/** The server at an http URL speaks TLS. */
export function wantsTls(upstream: NamedUpstream): ConnectFailure {
  return { why: "its server speaks TLS, not plain HTTP", ...withScheme(upstream, "https:") };
}

function withScheme(
  { name, baseUrl }: NamedUpstream,
  scheme: string,
): Omit<ConnectFailure, "why"> & { fix: string } {
  const likely = baseUrl.replace(/^https?:/, scheme);
  const path = formatConfigPath(["upstreams", name, "baseUrl"]);
  const command = formatCommand(["tollkeeper", "config", "set", path, likely]);
  return { fix: `did you mean ${likely}?`, command, likelyBaseUrl: likely };
}

/** The refusal of a request for which no connection could be opened. */
export function noUpstream(error: Error, upstream: NamedUpstream, platform: Platform): Refusal {
  const code = isLasting(error, platform) ? "upstream_misconfigured" : "upstream_unreachable";
  return unreachable(code, explainConnectFailure(error, upstream, platform), upstream);
}

/** The refusal of a request to a server that speaks TLS and was asked in plain HTTP. */
export function plainToTls(upstream: NamedUpstream): Refusal {
  return unreachable("upstream_misconfigured", wantsTls(upstream), upstream);
}

function unreachable(
  code: "upstream_misconfigured" | "upstream_unreachable",
  { why, fix, command }: ConnectFailure,
  upstream: NamedUpstream,
): Refusal {
  const what = "tollkeeper cannot reach";
  const whole = `${what} ${nameUpstream(upstream)}`;
  const isFinal = code === "upstream_misconfigured";
  const edit = "tollkeeper config edit";
  return {
    code,
    problem: isFinal ? quietest(whole, `${what} upstream "${upstream.name}"`, `${what} the upstream`) : whole,
    reason: why,
    ...(fix !== null && { advice: fix }),
    command: fix === null ? DOCTOR : quietest(command ?? edit, edit),
  };
}

type Fix = Pick<ConnectFailure, "fix" | "command">;

function fixFor(code: string, platform: Platform): Fix {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return { fix: 'if the network has a login page, log in there; otherwise correct "baseUrl"' };
  return forCertificate(code) ?? { fix: isUnknownHost(code, platform) ? 'correct "baseUrl"' : null };
}

/** Returns what to do about a certificate, an upstream's or a proxy's, whose issuer or dates are refused; null for other failures. */
function forCertificate(code: string): Fix | null {
  if (code in UNTRUSTED) return { fix: NAME_AUTHORITY };
  return code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID" ? CHECK_CLOCK : null;
}

function isLasting(error: Error, platform: Platform): boolean {
  const codes = error instanceof TunnelError ? [error.code, error.detail] : [codeOf(error) ?? NO_CODE];
  return codes.some((code) => LASTING.has(code) || isUnknownHost(code, platform));
}

/** The refusal for a response that is not valid HTTP. `fault` is a whole sentence. */
export function invalidResponse(upstream: NamedUpstream, fault: string): Refusal {
  return {
    code: "upstream_invalid",
    problem: `${nameUpstream(upstream)} sent an invalid response`,
    reason: fault,
    command: "tollkeeper status",
  };
}

function wordsFor(code: string): string {
  if (NOT_TLS.has(code)) return "the TLS handshake with it failed";
  return UNTRUSTED[code] ?? UNREACHABLE[code] ?? `error ${code}`;
}

/** 426: an upstream that has no WebSocket, or opened none. */
export function noUpstreamWebSocket(upstream: NamedUpstream, reason: string): Refusal {
  return noWebSocket(
    quietest(`${nameUpstream(upstream)} opened no WebSocket`, "the upstream opened no WebSocket"),
    reason,
  );
}
