import type { HeaderIndex } from "./header-index.ts";
import { HOP_HEADER } from "./header-policy.ts";
import { isPlainContentLength } from "./framing.ts";
import {
  badRequest,
  documentNotAllowed,
  hostNotAllowed,
  loopDetected,
  ONLY_HTTP_1_1,
  onlyJson,
  ORIGIN_NOT_ALLOWED,
  SERVICE_WORKER,
} from "../refusals/admission.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Body } from "./api.ts";

/** What admission checks of a request. */
interface AdmissionRequest {
  /** `1.1`, as Node's parser gives it. */
  httpVersion: string;
  headers: HeaderIndex;
  /** The local port of the connection; null for one on the Unix socket, which has none. */
  localPort: number | null;
}

/** What the configuration admits beyond loopback (`listen.allowedHosts`, `listen.allowedOrigins`). */
export interface AdmissionRules {
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

/** Headers that we base decisions on. Each may occur only once (SECURITY.md C2). */
const SINGLE_HEADERS = new Set([
  "host",
  "origin",
  "referer",
  "sec-fetch-site",
  "sec-fetch-mode",
  "sec-fetch-dest",
  "service-worker",
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "expect",
  "upgrade",
  "authorization",
  "x-api-key",
  "anthropic-version",
  "x-tollkeeper-tool",
]);

const BROWSER_HEADERS = ["origin", "referer", "sec-fetch-site"];

const JSON_TYPE = "application/json";

/** The names of the addresses that we listen on, as `URL.hostname` spells them. */
export const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Returns the refusal of a request that is not admitted, whatever its route, key and body; null for any other. Checks the host
 * (DNS rebinding, SECURITY.md A1 and A2), then browser headers (A3), then the framing (C1), then loops.
 */
export function admit(request: AdmissionRequest, rules: AdmissionRules): Refusal | null {
  return (
    checkHost(request, rules) ?? checkBrowser(request, rules) ?? checkFraming(request) ?? checkLoop(request)
  );
}

function checkHost({ headers, localPort }: AdmissionRequest, rules: AdmissionRules): Refusal | null {
  const host = headers.get("host")?.toLowerCase() ?? "";
  const isOwn = localPort === null ? portOfLoopback(host) !== null : isOwnHost(host, localPort);
  const isAllowed = isOwn || rules.allowedHosts.includes(host);
  if (isAllowed && !headers.repeated.includes("host")) return null;
  return hostNotAllowed(localPort);
}

/**
 * Returns the port of a Host that names loopback; null for any other. On the Unix socket the port is whichever one a bridge or ssh
 * listens on, which we cannot know. It does not matter: a page with a loopback name was loaded from there, and one
 * that was loaded from another port has an `Origin`, a `Referer` or a `Sec-Fetch-Site` that reveals it.
 */
function portOfLoopback(host: string): number | null {
  const name = LOOPBACK_NAMES.find((own) => host === own || host.startsWith(`${own}:`));
  if (name === undefined) return null;
  const port = host === name ? "80" : host.slice(name.length + 1);
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535 ? Number(port) : null;
}

/** True for a Host, in lower case, that names loopback, whatever its port. */
export function isLoopbackName(host: string): boolean {
  return portOfLoopback(host) !== null;
}

/**
 * True for an admitted request under a name of `listen.allowedHosts` that is none of {@link LOOPBACK_NAMES}. Over plain HTTP, browsers send
 * no Fetch Metadata to such a name (it is not potentially trustworthy: Secure Contexts section 3.1). So nothing tells a web page's GET from a
 * program's there.
 */
export function isUnderListedName(headers: HeaderIndex, { allowedHosts }: AdmissionRules): boolean {
  return allowedHosts.length > 0 && !isLoopbackName(headers.get("host")?.toLowerCase() ?? "");
}

function isOwnHost(host: string, port: number): boolean {
  for (const name of LOOPBACK_NAMES) {
    if (host === `${name}:${port}` || (port === 80 && host === name)) return true;
  }
  return false;
}

/**
 * Only `Origin`, `Referer` and `Sec-Fetch-Site` identify a browser. Every client on Node's fetch sends
 * `sec-fetch-mode: cors`, and real tools send `anthropic-dangerous-direct-browser-access` (docs/wire.md section 1).
 */
function checkBrowser({ headers, localPort }: AdmissionRequest, rules: AdmissionRules): Refusal | null {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  const referer = headers.get("referer");
  const isCrossSite =
    origin !== undefined || (site !== undefined && site !== "none" && site !== "same-origin");
  const isListed = origin !== undefined && rules.allowedOrigins.includes(origin);
  const port = localPort ?? portOfLoopback(headers.get("host")?.toLowerCase() ?? "");
  const hasForeignReferer = referer !== undefined && !isOwnReferer(referer, port, rules);
  const isRepeated = BROWSER_HEADERS.some((name) => headers.repeated.includes(name));
  if ((!isCrossSite || isListed) && !hasForeignReferer && !isRepeated) return null;
  return ORIGIN_NOT_ALLOWED;
}

/**
 * Returns the refusal of a request for an API route whose response a browser would show or run as a document, frame, script, style or
 * worker of our origin, or which a document of our origin requests; null for any other (SECURITY.md C8). Only a browser asks for those: `fetch`, of pages and of programs, has the
 * destination `empty` or names none (Fetch Metadata sections 2.1 and 2.2). Browsers that send no metadata announce a navigation by
 * `Upgrade-Insecure-Requests` (Upgrade Insecure Requests section 3.2.1). Whatever else such a browser sends may come from any page, unless
 * it has a header for which the browser would have asked first.
 */
export function refuseDocument(headers: HeaderIndex, path: string): Refusal | null {
  const destination = headers.get("sec-fetch-dest");
  const isShown =
    (destination !== undefined && destination !== "empty") ||
    headers.get("sec-fetch-mode") === "navigate" ||
    headers.has("upgrade-insecure-requests");
  // The dashboard asks for no API route, so any other document of our origin has come from elsewhere.
  const isFromOwnOrigin = headers.get("sec-fetch-site") === "same-origin";
  const isFromPage = isFromOwnOrigin || (isWithoutMetadata(headers) && !isPreflighted(headers));
  if (!isShown && !isFromPage) return null;
  return documentNotAllowed(urlOf(headers, path));
}

/** The address of a request, as its client wrote it. The host is one that we listen on. */
export function urlOf(headers: HeaderIndex, path: string): string {
  return `http://${headers.get("host") ?? ""}${path}`;
}

/**
 * Returns the refusal of what a service worker sends, and null for any other request. That is its script, which a browser requests to
 * install the worker and to look for a newer version (Service Workers, `Service-Worker: script`), and the page at the root through it.
 * tollkeeper has no worker, so an earlier program on this port has left it, and it would see all that the dashboard sees. The response
 * makes the browser remove it (Clear Site Data section 3.1).
 */
export function refuseServiceWorker(method: string, path: string, headers: HeaderIndex): Refusal | null {
  // A worker passes a navigation on with the destination of a script's request.
  const isPassedOn =
    headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "empty";
  const isForPage = method === "GET" && path === "/" && isPassedOn;
  if (!isForPage && !headers.has("service-worker") && !headers.has("service-worker-navigation-preload"))
    return null;
  return SERVICE_WORKER;
}

/**
 * True for a request that loads a document into a window; also for one of a client that says nothing about that. No script gets to read
 * what such a request returns, not even one of our origin.
 */
export function isWindowLoad(headers: HeaderIndex): boolean {
  if (!isFromBrowser(headers)) return true;
  return (
    headers.get("sec-fetch-mode") === "navigate" &&
    (headers.get("sec-fetch-dest") ?? "document") === "document"
  );
}

/** True for what only a browser sends. No page can leave it out or change it. Node's fetch sends neither. */
export function isFromBrowser(headers: Pick<HeaderIndex, "has">): boolean {
  return headers.has("sec-fetch-site") || headers.has("sec-fetch-dest");
}

/**
 * True for a browser that sends no Fetch Metadata: Chrome before 76, Firefox before 90, Safari before 16.4. All browsers send the other two
 * headers, and no page of another origin can leave them out. PowerShell, too, calls itself Mozilla, but names no language.
 */
export function isWithoutMetadata(headers: HeaderIndex): boolean {
  return (
    headers.get("user-agent")?.startsWith("Mozilla/") === true &&
    headers.has("accept-language") &&
    !headers.has("sec-fetch-mode") &&
    !isFromBrowser(headers)
  );
}

/**
 * True for a request with a header that a page sends to another origin only after a preflight (Fetch, "CORS-safelisted request-header").
 * Browsers add `Authorization: Basic` by themselves.
 */
function isPreflighted(headers: HeaderIndex): boolean {
  return (
    isJson(headers.get("content-type")) ||
    headers.has("x-api-key") ||
    headers.has("anthropic-version") ||
    /^bearer /i.test(headers.get("authorization") ?? "")
  );
}

function isOwnReferer(referer: string, port: number | null, rules: AdmissionRules): boolean {
  const own = port === null ? [] : LOOPBACK_NAMES.map((name) => `http://${name}:${port}`);
  return [...own, ...rules.allowedOrigins].some(
    (origin) => referer === origin || referer.startsWith(`${origin}/`),
  );
}

function checkFraming({ httpVersion, headers }: AdmissionRequest): Refusal | null {
  // A response to HTTP/1.0 ends when the connection closes, so a truncated one would look complete.
  if (httpVersion !== "1.1") {
    return ONLY_HTTP_1_1;
  }
  const repeated = headers.repeated.find((name) => SINGLE_HEADERS.has(name));
  if (repeated !== undefined) return badRequest(`more than one ${repeated} header`);
  const encoding = headers.get("transfer-encoding");
  if (encoding !== undefined && (encoding.toLowerCase() !== "chunked" || headers.has("content-length"))) {
    return badRequest("transfer-encoding must be exactly chunked");
  }
  const length = headers.get("content-length");
  if (length !== undefined && !isPlainContentLength(length)) {
    return badRequest("content-length is not a plain number");
  }
  return null;
}

/**
 * Returns the refusal of a POST with a body that its route does not take; null for any other (SECURITY.md A3). A page sends JSON to another
 * origin only after a preflight, which we never grant. A form, and a POST without a body, it sends at once: so where a route lists
 * these, whatever names a page is refused, also an origin that the configuration admits. The bytes of an upload have a header that no page
 * sends without a preflight.
 */
export function refuseBody(
  headers: HeaderIndex,
  path: string,
  { accepts }: { accepts: readonly Body[] },
): Refusal | null {
  const type = headers.get("content-type");
  if (isJson(type)) return null;
  const other = hasBody(headers) ? kindOf(type) : "empty";
  const kind = isUpload(headers) ? "bytes" : other;
  if (kind === null || !accepts.includes(kind)) return onlyJson(urlOf(headers, path));
  return BROWSER_HEADERS.some((name) => headers.has(name)) ? ORIGIN_NOT_ALLOWED : null;
}

/** True for a step of an upload to Google: each has one of these (docs/wire.md section 12). */
function isUpload(headers: HeaderIndex): boolean {
  return headers.has("x-goog-upload-command") || headers.has("x-goog-upload-protocol");
}

/** True for a request that has a body, or announces one. */
export function hasBody(headers: HeaderIndex): boolean {
  return headers.has("transfer-encoding") || (headers.get("content-length") ?? "0") !== "0";
}

/** A tollkeeper in front of a tollkeeper is a loop, or counts everything twice. */
function checkLoop({ headers, localPort }: AdmissionRequest): Refusal | null {
  return headers.has(HOP_HEADER) ? loopDetected(localPort) : null;
}

function isJson(contentType: string | undefined): boolean {
  // Fast path: nearly every client sends exactly this.
  return contentType === JSON_TYPE || mediaType(contentType) === JSON_TYPE;
}

/** No page sends `application/octet-stream` without a preflight either (Fetch, "CORS-safelisted request-header"). */
function kindOf(contentType: string | undefined): Body | null {
  const type = mediaType(contentType);
  if (type === "multipart/form-data") return "multipart";
  return type === "application/octet-stream" ? "blob" : null;
}

function mediaType(contentType: string | undefined): string {
  const type = contentType?.split(";", 1)[0] ?? "";
  return type.trim().toLowerCase();
}
