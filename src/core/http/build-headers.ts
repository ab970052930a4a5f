import type { RouteAuth } from "../config/config.ts";
import { buildCredentialHeader } from "./credential-headers.ts";
import type { HeaderIndex } from "./header-index.ts";
import { CONTENT_NAMES, HOP_HEADER, INERT_HEADERS } from "./header-policy.ts";
import { holdsCredential } from "../secrets/credential-values.ts";
import type { Plan } from "../plans/plans.ts";
import type { Secret } from "../secrets/secret.ts";

/** What the upstream headers depend on besides the client's headers. */
export interface UpstreamHeaderOptions {
  /** Host and port of the upstream, for `Host`. */
  host: string;
  auth: Exclude<RouteAuth, "sigv4">;
  secret: Secret;
  /** `anthropic-version` to add when the client sent none; null on routes without it. */
  defaultVersion: string | null;
  /** True when the upstream is on this machine, and could be a tollkeeper. */
  isLocal: boolean;
  /** Headers of the configuration, names in lower case. They replace the client's. */
  fixed: readonly (readonly [name: string, value: string])[];
  /** By how many bytes the body is longer than the client says. */
  addedBytes: number;
}

/** A beta for subscription tokens only, and invalid with the API key that we set (docs/wire.md section 1). */
const OAUTH_BETA = "oauth-2025-04-20";

/** The values that Node's `writeHead` accepts; it throws for any other. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/**
 * Builds the headers of an upstream request as a flat list: the client's end-to-end headers in their order and spelling,
 * without any credential or local token, then exactly one, or none if the upstream takes none. It comes last, so that nothing from the client can
 * replace it.
 */
export function buildUpstreamHeaders(headers: HeaderIndex, options: UpstreamHeaderOptions): string[] {
  const hopByHop = listHopByHopNames(headers);
  const out = ["host", options.host];
  let hasVersion = false;
  for (const { policy, rawName, value } of headers.lines) {
    const { name, isSentUpstream } = policy;
    if (!isSentUpstream || hopByHop?.has(name)) continue;
    if (options.fixed.some(([fixed]) => fixed === name) || holdsCredential(value)) continue;
    if (name === "anthropic-version") hasVersion = true;
    let sent = value;
    if (name === "anthropic-beta") sent = removeOauthBeta(value);
    else if (name === "content-length" && options.addedBytes !== 0)
      sent = String(Number(value) + options.addedBytes);
    if (sent !== "" || value === "") out.push(rawName, sent);
  }
  for (const [name, value] of options.fixed) {
    if (name === "anthropic-version") hasVersion = true;
    out.push(name, value);
  }
  if (options.defaultVersion !== null && !hasVersion) out.push("anthropic-version", options.defaultVersion);
  // Uncompressed, so that the meter can read the response, and a key echoed in an error can be found.
  out.push("accept-encoding", "identity");
  if (options.isLocal) out.push(HOP_HEADER, "1");
  if (options.auth !== "none") out.push(...buildCredentialHeader(options.auth, options.secret));
  return out;
}

/** Sent to the service of a plan although no key's upstream gets it: the service is asked as the tool asks it. */
const PLAN_HEADERS = ["accept-encoding"];

/**
 * Builds the headers of a request that a plan pays, as a flat list: the client's end-to-end headers in their order and spelling, with its login
 * as it came. There is no key here, and nothing is added but `Host`.
 */
export function buildPlanHeaders(headers: HeaderIndex, host: string, { loginHeaders }: Plan): string[] {
  const hopByHop = listHopByHopNames(headers);
  const out = ["host", host];
  for (const { policy, rawName, value } of headers.lines) {
    const { name, isSentUpstream } = policy;
    if (loginHeaders.includes(name)) out.push(rawName, value);
    else if (hopByHop?.has(name) || holdsCredential(value)) continue;
    else if (isSentUpstream || PLAN_HEADERS.includes(name)) out.push(rawName, value);
  }
  return out;
}

/**
 * Builds the client's response headers as a flat list: the upstream's in order, filtered, with the secret redacted; then those that keep
 * a browser from running the body.
 */
export function buildDownstreamHeaders(headers: HeaderIndex, secret: Secret): string[] {
  const hopByHop = listHopByHopNames(headers);
  const out: string[] = [];
  for (const { policy, rawName, value } of headers.lines) {
    if (!policy.isSentDownstream || hopByHop?.has(policy.name)) continue;
    if (!HEADER_VALUE.test(value) || secret.isIn(rawName)) continue;
    out.push(rawName, secret.isIn(value) ? secret.redactText(value) : value);
  }
  out.push(...INERT_HEADERS);
  return out;
}

/** Returns the header names that `Connection` lists, which makes them hop-by-hop; null when there are none. */
function listHopByHopNames(headers: HeaderIndex): Set<string> | null {
  if (!headers.has("connection")) return null;
  let names: Set<string> | null = null;
  for (const { policy, value } of headers.lines) {
    if (policy.name !== "connection") continue;
    for (const option of value.split(",")) {
      const name = option.trim().toLowerCase();
      // Clients cannot remove content headers this way: the body would be read differently without them.
      if (name === "" || name === "keep-alive" || name === "close" || CONTENT_NAMES.has(name)) continue;
      names ??= new Set();
      names.add(name);
    }
  }
  return names;
}

function removeOauthBeta(value: string): string {
  if (!value.includes(OAUTH_BETA)) return value;
  const betas = value.split(",").filter((beta) => beta.trim() !== OAUTH_BETA);
  return betas.join(",");
}
