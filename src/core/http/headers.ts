import type { Auth } from "../config/config.ts";
import type { HeaderIndex } from "./header-index.ts";
import { CONTENT_NAMES } from "./header-name.ts";
import type { Secret } from "../secrets/secret.ts";

/** What the upstream headers of one request depend on, besides the client's own. */
export interface UpstreamHead {
  /** Host and port of the upstream, for `Host`. */
  host: string;
  auth: Auth;
  secret: Secret;
  /** `anthropic-version` to add when the client sent none; null on routes without it. */
  defaultVersion: string | null;
}

/** A beta that only subscription tokens may use; wrong beside the API key that we put on (facts/clients.md 1.3). */
const OAUTH_BETA = "oauth-2025-04-20";

/** What Node's `writeHead` accepts as a value; anything else would throw there. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** The one place where a key becomes a header. */
export function credentialHeader(auth: Auth, secret: Secret): [name: string, value: string] {
  return auth === "bearer" ? ["authorization", `Bearer ${secret.reveal()}`] : ["x-api-key", secret.reveal()];
}

/** What a proxy on the way is shown (RFC 9110 section 11.7.2, RFC 7617): `credentials` are `USER:PASSWORD`. */
export function proxyCredentialHeader(credentials: Secret): [name: string, value: string] {
  return ["proxy-authorization", `Basic ${Buffer.from(credentials.reveal()).toString("base64")}`];
}

/**
 * Composes the upstream's headers as a flat list, from an empty one: the client's end-to-end headers in their order
 * and spelling, without anything that could be a credential, then exactly one credential, set last so that nothing
 * the client sends can remove or replace it.
 */
export function buildUpstreamHeaders(headers: HeaderIndex, head: UpstreamHead): string[] {
  const listed = connectionOptions(headers);
  const out = ["host", head.host];
  let hasVersion = false;
  for (const { name, spelled, value } of headers.lines) {
    const { lower, goesUpstream } = name;
    if (!goesUpstream || listed?.has(lower)) continue;
    if (lower === "anthropic-version") hasVersion = true;
    const passed = lower === "anthropic-beta" ? withoutOauthBeta(value) : value;
    if (passed !== "" || value === "") out.push(spelled, passed);
  }
  if (head.defaultVersion !== null && !hasVersion) out.push("anthropic-version", head.defaultVersion);
  // Uncompressed, so that the meter can read the answer and our key be found in an error that echoes it.
  out.push("accept-encoding", "identity");
  out.push(...credentialHeader(head.auth, head.secret));
  return out;
}

/** The upstream's headers as the client may have them: as they came, less what is not for them. */
export function buildDownstreamHeaders(headers: HeaderIndex, secret: Secret): string[] {
  const listed = connectionOptions(headers);
  const out: string[] = [];
  for (const { name, spelled, value } of headers.lines) {
    if (!name.goesDownstream || listed?.has(name.lower)) continue;
    if (!HEADER_VALUE.test(value) || secret.isIn(spelled)) continue;
    out.push(spelled, secret.isIn(value) ? secret.redactText(value) : value);
  }
  return out;
}

/** Names that `Connection` lists: hop-by-hop by the sender's will. null when there are none, as almost always. */
function connectionOptions(headers: HeaderIndex): Set<string> | null {
  if (!headers.has("connection")) return null;
  let options: Set<string> | null = null;
  for (const { name, value } of headers.lines) {
    if (name.lower !== "connection") continue;
    for (const option of value.split(",")) {
      const listed = option.trim().toLowerCase();
      // Framing and content type are not the client's to strip: without them the body would change its meaning.
      if (listed === "" || listed === "keep-alive" || listed === "close" || CONTENT_NAMES.has(listed))
        continue;
      options ??= new Set();
      options.add(listed);
    }
  }
  return options;
}

function withoutOauthBeta(value: string): string {
  if (!value.includes(OAUTH_BETA)) return value;
  return value
    .split(",")
    .filter((beta) => beta.trim() !== OAUTH_BETA)
    .join(",");
}
