import type { HeaderIndex } from "./header-index.ts";
import { isPlainLength } from "./content-length.ts";
import type { Refusal } from "./refusal.ts";

/** The facts about a request that admission judges. */
export interface Arrival {
  method: string;
  /** `1.1`, as Node's parser gives it. */
  httpVersion: string;
  headers: HeaderIndex;
  /** Port that the connection was made to. */
  localPort: number;
}

/** What the configuration lets in besides ourselves (`listen.allowedHosts`, `listen.allowedOrigins`). */
export interface AdmissionRules {
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

/** Headers that we judge by: two of them are one too many (facts/threats.md C2). */
const JUDGED = new Set([
  "host",
  "origin",
  "referer",
  "sec-fetch-site",
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "expect",
  "upgrade",
  "authorization",
  "x-api-key",
  "x-tollkeeper-tool",
]);

const BROWSER_MARKS = ["origin", "referer", "sec-fetch-site"];

const JSON_TYPE = "application/json";

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/**
 * The first gate, before route, key or body: no web page and no foreign host name gets past it.
 * Returns the refusal, or null for an admitted request. Judged in this order: the Host alone (DNS rebinding,
 * threats A1 and A2), the marks of a browser (A3), then the framing (C1).
 */
export function admit(arrival: Arrival, rules: AdmissionRules): Refusal | null {
  return judgeHost(arrival, rules) ?? judgeBrowser(arrival, rules) ?? judgeFraming(arrival);
}

function judgeHost({ headers, localPort }: Arrival, rules: AdmissionRules): Refusal | null {
  const host = headers.get("host")?.toLowerCase() ?? "";
  const known = isOwnHost(host, localPort) || rules.allowedHosts.includes(host);
  if (known && !headers.repeated.includes("host")) return null;
  return {
    code: "host_not_allowed",
    message: `requests must be addressed to 127.0.0.1:${localPort}, localhost:${localPort} or [::1]:${localPort}; to admit another name, list it in "listen.allowedHosts" (tollkeeper config edit)`,
  };
}

function isOwnHost(host: string, port: number): boolean {
  for (const name of LOOPBACK_NAMES) {
    if (host === `${name}:${port}` || (port === 80 && host === name)) return true;
  }
  return false;
}

/**
 * Only `Origin`, `Referer` and `Sec-Fetch-Site` tell a browser: every client on Node's fetch sends
 * `sec-fetch-mode: cors`, and real tools send `anthropic-dangerous-direct-browser-access` (facts/clients.md 1.11).
 */
function judgeBrowser({ headers, localPort }: Arrival, rules: AdmissionRules): Refusal | null {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const referer = headers.get("referer");
  const crossSite = origin !== undefined || (site !== undefined && site !== "none" && site !== "same-origin");
  const listed = origin !== undefined && rules.allowedOrigins.includes(origin);
  const foreignReferer = referer !== undefined && !isOwnReferer(referer, localPort, rules);
  const repeated = BROWSER_MARKS.some((name) => headers.repeated.includes(name));
  if ((!crossSite || listed) && !foreignReferer && !repeated) return null;
  return {
    code: "origin_not_allowed",
    message: `requests from web pages are refused; to admit an editor's web view, list its origin in "listen.allowedOrigins" (tollkeeper config edit)`,
  };
}

function isOwnReferer(referer: string, port: number, rules: AdmissionRules): boolean {
  const own = LOOPBACK_NAMES.map((name) => `http://${name}:${port}`);
  return [...own, ...rules.allowedOrigins].some(
    (origin) => referer === origin || referer.startsWith(`${origin}/`),
  );
}

function judgeFraming({ method, httpVersion, headers }: Arrival): Refusal | null {
  // An answer to HTTP/1.0 ends with the connection, so a broken one would look complete.
  if (httpVersion !== "1.1") return { code: "http_version", message: "only HTTP/1.1 is spoken here" };
  const repeated = headers.repeated.find((name) => JUDGED.has(name));
  if (repeated !== undefined) return { code: "bad_request", message: `more than one ${repeated} header` };
  const encoding = headers.get("transfer-encoding");
  if (encoding !== undefined && (encoding.toLowerCase() !== "chunked" || headers.has("content-length"))) {
    return { code: "bad_request", message: "transfer-encoding must be chunked, without a content-length" };
  }
  const length = headers.get("content-length");
  if (length !== undefined && !isPlainLength(length)) {
    return { code: "bad_request", message: "content-length must be a plain decimal number" };
  }
  if (method === "POST" && !isJson(headers.get("content-type"))) {
    // A "simple" cross-site POST cannot carry this type without a preflight, which we never grant.
    return { code: "content_type", message: "a POST needs content-type: application/json" };
  }
  return null;
}

function isJson(contentType: string | undefined): boolean {
  // In this spelling nearly always.
  if (contentType === JSON_TYPE) return true;
  const type = contentType?.split(";", 1)[0] ?? "";
  return type.trim().toLowerCase() === JSON_TYPE;
}
