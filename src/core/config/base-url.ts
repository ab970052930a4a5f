import { KEY_VALUE_FOUND, looksLikeKey, sanitizeText } from "./problem.ts";

/** The parts of an upstream's address. */
interface BaseUrl {
  /** The whole address as the URL standard serializes it, without a trailing slash: `https://api.example.com/v1`. */
  baseUrl: string;
  /** Scheme, host and port, as `URL.origin` gives it. */
  origin: string;
  /** At least one segment: `/v1`, `/api/v1`. */
  basePath: string;
}

/** Route paths that people paste along with the base URL; the proxy adds the route itself. */
const ROUTE_ENDING = /\/(?:models|responses|messages(?:\/count_tokens)?|chat\/completions|completions)$/;

/** Segments of RFC 3986 section 3.3 without escapes, so that the path is sent exactly as written. */
const PLAIN_PATH = /^(?:\/[\w.~!$&'()*+,;=:@-]+)+$/;

/** The APIs of services, by the hosts of the web pages on which people create keys. Nothing that tollkeeper could forward is served there. */
const APIS: Readonly<Record<string, string>> = {
  "console.anthropic.com": "https://api.anthropic.com/v1",
  "platform.claude.com": "https://api.anthropic.com/v1",
  "claude.ai": "https://api.anthropic.com/v1",
  "www.anthropic.com": "https://api.anthropic.com/v1",
  "anthropic.com": "https://api.anthropic.com/v1",
  "platform.openai.com": "https://api.openai.com/v1",
  "www.openai.com": "https://api.openai.com/v1",
  "openai.com": "https://api.openai.com/v1",
};

/** Parses an upstream's base URL. Returns the address, or what is wrong with it and the likely fix. */
export function parseBaseUrl(text: string): BaseUrl | { problem: string } {
  if (looksLikeKey(text)) return { problem: KEY_VALUE_FOUND };
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return { problem: describeNotAbsolute(text) };
  const url = new URL(text);
  const basePath = pathOf(url);
  const problem = findProblem(text, url, basePath);
  if (problem !== null) return { problem };
  return { baseUrl: url.origin + basePath, origin: url.origin, basePath };
}

function findProblem(text: string, url: URL, basePath: string): string | null {
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user name or password; store the key with: tollkeeper key set";
  }
  if (Object.hasOwn(APIS, url.hostname))
    return `is the address of a web site, not of the API; ${suggest(url)}`;
  if (/[?#]/.test(text)) return `must end before "?" and "#"; ${suggest(url)}`;
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    url.protocol = "https:";
    return `must start with https://, unless the host is this machine; ${suggest(url)}`;
  }
  if (basePath === "") return `has no path; ${suggest(url)}`;
  if (ROUTE_ENDING.test(basePath)) return `must end before the route; ${suggest(url)}`;
  if (!PLAIN_PATH.test(basePath)) return "must have a path without empty segments and escapes";
  return null;
}

function describeNotAbsolute(text: string): string {
  const wanted = 'must be an absolute URL such as "https://api.example.com/v1"';
  const guess = `https://${text}`;
  if (text.includes("//") || !URL.canParse(guess)) return wanted;
  const url = new URL(guess);
  if (isLoopbackHost(url.hostname)) url.protocol = "http:";
  return url.hostname.includes(".") || isLoopbackHost(url.hostname) ? `${wanted}; ${suggest(url)}` : wanted;
}

/** Repeats only origin and path: user info, query and fragment may hold a key. */
function suggest(url: URL): string {
  const api = APIS[url.hostname];
  if (api !== undefined) return `did you mean "${api}"?`;
  const path = pathOf(url).replace(ROUTE_ENDING, "");
  return `did you mean "${url.origin}${path === "" ? "/v1" : sanitizeText(path)}"?`;
}

function pathOf(url: URL): string {
  return url.pathname.replace(/\/$/, "");
}

/** True when `hostname` means this machine. Expects a `URL.hostname`, where every IPv4 address has four decimal parts. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
