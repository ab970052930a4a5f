import type { Auth } from "./config.ts";
import type { Secret } from "./secret.ts";

/** What the upstream headers of one request depend on, besides the client's own. */
export interface UpstreamHead {
  /** Host and port of the upstream, for `Host`. */
  host: string;
  auth: Auth;
  secret: Secret;
  /** `anthropic-version` to add when the client sent none; null on routes without it. */
  defaultVersion: string | null;
}

/** Valid for one connection only (RFC 9110 section 7.6.1), both directions. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

/** Not passed upstream, besides what {@link LOOKS_LIKE_CREDENTIAL} and {@link LOOKS_LIKE_FORWARDING} find (facts/threats.md C3). */
const NOT_UPSTREAM = new Set([
  ...HOP_BY_HOP,
  "host",
  // Our own server has answered it already; with it http-proxy-3 would not run its hooks (STYLE section 7, trap 1).
  "expect",
  // Replaced by our own.
  "accept-encoding",
  // Would have an upstream take one method for another (facts/threats.md B3).
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "origin",
  "referer",
  "chatgpt-account-id",
]);

/** Where a request came from and what it asked for before, as proxies and CDNs put it (facts/threats.md C5). */
const LOOKS_LIKE_FORWARDING =
  /^(?:.*-)?(?:forwarded(?:-.*)?|via|(?:client)?ip(?:v6)?|addr|external-address)$|^x-(?:(?:original|rewrite)-)?(?:host|url)$/;

/** Credentials in every spelling, `_` for `-` included; names only, so that an unknown vendor's key stays here too. */
const LOOKS_LIKE_CREDENTIAL =
  /^(?!(?:x-)?idempotency-key$)(?:.*-)?(?:auth(?:entication|orization)?|bearer|jwt|dpop|[a-z]*keys?(?:-\d+)?|tokens?|cookies?2?|secrets?|credentials?|passw(?:or)?ds?|remote-user)$/;

/** What an upstream could do to a browser on loopback (facts/threats.md A4 and C8). */
const NOT_DOWNSTREAM = new Set([
  ...HOP_BY_HOP,
  "set-cookie",
  "set-cookie2",
  "strict-transport-security",
  "clear-site-data",
  "refresh",
  "alt-svc",
]);

/** A beta that only subscription tokens may use; wrong beside the API key that we put on (facts/clients.md 1.3). */
const OAUTH_BETA = "oauth-2025-04-20";

/** What Node's `writeHead` accepts as a value; anything else would throw there. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** The one place where a key becomes a header. */
export function credentialHeader(auth: Auth, secret: Secret): [name: string, value: string] {
  return auth === "bearer" ? ["authorization", `Bearer ${secret.reveal()}`] : ["x-api-key", secret.reveal()];
}

/**
 * Composes the upstream's headers as a flat list, from an empty one: the client's end-to-end headers in their order
 * and spelling, without anything that could be a credential, then exactly one credential, set last so that nothing
 * the client sends can remove or replace it.
 */
export function buildUpstreamHeaders(rawHeaders: readonly string[], head: UpstreamHead): string[] {
  const listed = connectionOptions(rawHeaders);
  const out = ["host", head.host];
  let hasVersion = false;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const lower = name.toLowerCase();
    let value = rawHeaders[i + 1] ?? "";
    if (!passesUpstream(lower) || listed?.has(lower)) continue;
    if (lower === "anthropic-version") hasVersion = true;
    if (lower === "anthropic-beta" && value.includes(OAUTH_BETA)) {
      value = withoutOauthBeta(value);
      if (value === "") continue;
    }
    out.push(name, value);
  }
  if (head.defaultVersion !== null && !hasVersion) out.push("anthropic-version", head.defaultVersion);
  // Uncompressed, so that the meter can read the answer and our key be found in an error that echoes it.
  out.push("accept-encoding", "identity");
  out.push(...credentialHeader(head.auth, head.secret));
  return out;
}

/** The upstream's headers as the client may have them: as they came, less what {@link NOT_DOWNSTREAM} names. */
export function buildDownstreamHeaders(rawHeaders: readonly string[], secret: Secret): string[] {
  const listed = connectionOptions(rawHeaders);
  const out: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const value = rawHeaders[i + 1] ?? "";
    const lower = name.toLowerCase();
    if (NOT_DOWNSTREAM.has(lower) || listed?.has(lower)) continue;
    // Marks of our own answers are not for the upstream to set.
    if (lower.startsWith("access-control-") || lower.startsWith("x-tollkeeper-")) continue;
    if (!HEADER_VALUE.test(value) || secret.isIn(name)) continue;
    out.push(name, secret.isIn(value) ? secret.blotText(value) : value);
  }
  return out;
}

function passesUpstream(lower: string): boolean {
  const dashed = lower.includes("_") ? lower.replaceAll("_", "-") : lower;
  // `content_length` and its like: some servers take them for the real ones (facts/threats.md C1).
  if (dashed !== lower && FRAMING.has(dashed)) return false;
  return (
    !NOT_UPSTREAM.has(dashed) &&
    !dashed.startsWith("x-tollkeeper-") &&
    !dashed.startsWith("proxy-") &&
    !LOOKS_LIKE_FORWARDING.test(dashed) &&
    !LOOKS_LIKE_CREDENTIAL.test(dashed)
  );
}

/** Names that `Connection` lists: hop-by-hop by the sender's will. null when there are none, as almost always. */
function connectionOptions(rawHeaders: readonly string[]): Set<string> | null {
  let options: Set<string> | null = null;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== "connection") continue;
    for (const option of (rawHeaders[i + 1] ?? "").split(",")) {
      const name = option.trim().toLowerCase();
      // Framing and content type are not the client's to strip: without them the body would change its meaning.
      if (name === "" || name === "keep-alive" || name === "close" || FRAMING.has(name)) continue;
      options ??= new Set();
      options.add(name);
    }
  }
  return options;
}

/** What the body means: without these it would be another one. */
const FRAMING = new Set(["content-length", "content-type", "content-encoding"]);

function withoutOauthBeta(value: string): string {
  return value
    .split(",")
    .filter((beta) => beta.trim() !== OAUTH_BETA)
    .join(",");
}
