import { holdsCredential } from "../secrets/credential-values.ts";
import { namesLimit } from "../limits/limit-names.ts";
import { foldName, namesCredential } from "./credential-names.ts";

/** What is decided about a header by its name alone. */
export interface HeaderPolicy {
  /** In lower case. */
  name: string;
  /** True when a client's header of this name is forwarded to the upstream. */
  isSentUpstream: boolean;
  /** True when an upstream's header of this name is forwarded to the client. */
  isSentDownstream: boolean;
  /** True when an upstream's header of this name may say how much of a limit is used. */
  namesLimit: boolean;
}

/** Hop-by-hop headers (RFC 9110 section 7.6.1), in both directions. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
];

/** Headers that say how to read the body. */
export const CONTENT_NAMES: ReadonlySet<string> = new Set([
  "content-length",
  "content-type",
  "content-encoding",
]);

/** Names the upstreams that were to serve the request, in order, and what became of each: `one;status=429, two;status=200`. */
export const ATTEMPTS_HEADER = "x-tollkeeper-attempts";

/** Added to requests for upstreams on this machine, so that a tollkeeper that receives one can tell. */
export const HOP_HEADER = "x-tollkeeper-hop";

/** Not sent upstream, besides what {@link namesCredential} and {@link LOOKS_LIKE_FORWARDING} match (SECURITY.md C3). */
const NOT_UPSTREAM = new Set([
  ...HOP_BY_HOP,
  "host",
  // Node's server has already handled it. With it http-proxy-3 would not run its hooks (docs/performance.md section 4, trap 1).
  "expect",
  // We send our own.
  "accept-encoding",
  // Could make an upstream execute another method (SECURITY.md B3).
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "origin",
  "referer",
  "chatgpt-account-id",
  // Of a signature, which is taken off as a credential.
  "x-amz-date",
  "x-amz-content-sha256",
]);

/** The headers in which proxies and CDNs report a request's origin and original target (SECURITY.md C5). */
const LOOKS_LIKE_FORWARDING =
  /^(?:.*-)?(?:forwarded(?:-.*)?|via|(?:client)?ip(?:v6)?|addr|external-address)$|^x-(?:(?:original|rewrite)-)?(?:host|url)$/;

/**
 * Sent with every response except the dashboard's (SECURITY.md C8). A browser that shows such a response as a document gives it an
 * origin of its own, runs nothing in it and loads nothing for it (CSP3, `sandbox` and `default-src`). It takes the body for the type that
 * is named, and gives it to no other origin (Fetch, `nosniff` and `Cross-Origin-Resource-Policy`). A flat list.
 */
export const INERT_HEADERS = [
  "content-security-policy",
  "default-src 'none'; sandbox",
  "x-content-type-options",
  "nosniff",
  "cross-origin-resource-policy",
  "same-origin",
] as const;

/**
 * Headers by which a browser would change what it does with our origin (SECURITY.md A4 and C8). Those that we send ourselves are among
 * them: a second value would make the browser ignore ours, or send it reports to another host.
 */
const NOT_DOWNSTREAM = new Set([
  ...HOP_BY_HOP,
  ...INERT_HEADERS.filter((_, at) => at % 2 === 0),
  "content-security-policy-report-only",
  "accept-ch",
  "activate-storage-access",
  "alt-svc",
  "clear-site-data",
  "critical-ch",
  "nel",
  "origin-agent-cluster",
  "refresh",
  "report-to",
  "reporting-endpoints",
  "sec-session-registration",
  "secure-session-registration",
  "service-worker-allowed",
  "set-cookie",
  "set-cookie2",
  "set-login",
  "speculation-rules",
  "strict-transport-security",
  "use-as-dictionary",
]);

/** Tools send the same two dozen names with every request. The limits keep hostile clients from growing the cache. */
const MAX_CACHED_POLICIES = 1_000;
const MAX_CACHED_NAME_LENGTH = 64;
const cache = new Map<string, HeaderPolicy>();

/** Returns the policy of a header name in any spelling. Cached: 0.03 µs each instead of 2, for 30 names per request. */
export function getHeaderPolicy(raw: string): HeaderPolicy {
  const known = cache.get(raw);
  if (known !== undefined) return known;
  const name = raw.toLowerCase();
  const policy = {
    name,
    isSentUpstream: isSentUpstream(name) && !holdsCredential(raw),
    isSentDownstream: isSentDownstream(name),
    namesLimit: namesLimit(name),
  };
  if (raw.length <= MAX_CACHED_NAME_LENGTH && cache.size < MAX_CACHED_POLICIES) cache.set(raw, policy);
  return policy;
}

function isSentUpstream(name: string): boolean {
  const dashed = foldName(name);
  // Some servers treat `content_length` like `content-length` (SECURITY.md C1).
  if (dashed !== name && CONTENT_NAMES.has(dashed)) return false;
  return (
    !NOT_UPSTREAM.has(dashed) &&
    !dashed.startsWith("x-tollkeeper-") &&
    !dashed.startsWith("proxy-") &&
    // A subprotocol may carry a key. Without an upgrade these headers mean nothing.
    !dashed.startsWith("sec-websocket-") &&
    !LOOKS_LIKE_FORWARDING.test(dashed) &&
    !namesCredential(dashed)
  );
}

/** True for the name of a header or a query parameter that a configuration may send with each request: it is no credential in any spelling. */
export function isFixedHeader(name: string): boolean {
  return !namesCredential(foldName(name));
}

/**
 * `proxy-*` is for one connection only (RFC 9110 section 11.7), and an upstream may not set `x-tollkeeper-*`, which marks our own
 * responses.
 */
function isSentDownstream(name: string): boolean {
  return !NOT_DOWNSTREAM.has(name) && !/^(?:access-control-|proxy-|x-tollkeeper-)/.test(name);
}
