/** What is known of a header by its name alone. */
export interface HeaderName {
  lower: string;
  /** Does it go on to the upstream? */
  goesUpstream: boolean;
  /** Does it go on to the client? */
  goesDownstream: boolean;
}

/** Valid for one connection only (RFC 9110 section 7.6.1), both directions. */
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

/** What the body means: without these it would be another one. */
export const CONTENT_NAMES: ReadonlySet<string> = new Set([
  "content-length",
  "content-type",
  "content-encoding",
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

/** A tool sends the same two dozen names with every request; strangers must not make this grow. */
const MOST_REMEMBERED = 1_000;
const LONGEST_REMEMBERED = 64;
const remembered = new Map<string, HeaderName>();

/** Judges a name in any spelling. Names that came before are remembered: 0.03 µs each in place of 0.4, 30 of them per request. */
export function headerName(raw: string): HeaderName {
  const known = remembered.get(raw);
  if (known !== undefined) return known;
  const lower = raw.toLowerCase();
  const name = { lower, goesUpstream: goesUpstream(lower), goesDownstream: goesDownstream(lower) };
  if (raw.length <= LONGEST_REMEMBERED && remembered.size < MOST_REMEMBERED) remembered.set(raw, name);
  return name;
}

function goesUpstream(lower: string): boolean {
  const dashed = lower.includes("_") ? lower.replaceAll("_", "-") : lower;
  // `content_length` and its like: some servers take them for the real ones (facts/threats.md C1).
  if (dashed !== lower && CONTENT_NAMES.has(dashed)) return false;
  return (
    !NOT_UPSTREAM.has(dashed) &&
    !dashed.startsWith("x-tollkeeper-") &&
    !dashed.startsWith("proxy-") &&
    !LOOKS_LIKE_FORWARDING.test(dashed) &&
    !LOOKS_LIKE_CREDENTIAL.test(dashed)
  );
}

/** Marks of our own answers are not for the upstream to set. */
function goesDownstream(lower: string): boolean {
  return (
    !NOT_DOWNSTREAM.has(lower) && !lower.startsWith("access-control-") && !lower.startsWith("x-tollkeeper-")
  );
}
