import { KEY_VALUE_FOUND, looksLikeKey, sanitizeText } from "./problem.ts";

/** The parts of an upstream's address. */
export interface BaseUrl {
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

/** Hosts of Amazon Bedrock, whose paths begin with `/model`. */
const BEDROCK_HOST = /^bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

/** Why an address cannot be a base URL. */
interface WrongBaseUrl {
  /** The end of a sentence, with the address that was probably meant. */
  problem: string;
  /** That address; null where none suggests itself. */
  meant: string | null;
}

/** Parses an upstream's base URL. Returns the address, or what is wrong with it and the likely fix. */
export function parseBaseUrl(text: string): BaseUrl | WrongBaseUrl {
  if (looksLikeKey(text)) return { problem: KEY_VALUE_FOUND, meant: null };
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return describeNotAbsolute(text);
  const url = new URL(text);
  const basePath = pathOf(url);
  const problem = findProblem(text, url, basePath);
  if (problem !== null) return problem;
  return { baseUrl: url.origin + basePath, origin: url.origin, basePath };
}

function findProblem(text: string, url: URL, basePath: string): WrongBaseUrl | null {
  if (url.username !== "" || url.password !== "") {
    const problem = "must not contain a user name or password; store the key with: tollkeeper key set";
    return { problem, meant: null };
  }
  if (Object.hasOwn(APIS, url.hostname)) return suggest("is the address of a web site, not of the API", url);
  if (/[?#]/.test(text)) return suggest('must end before "?" and "#"', url);
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    url.protocol = "https:";
    return suggest("must start with https://, unless the host is this machine", url);
  }
  if (basePath === "") return suggest("has no path", url);
  if (ROUTE_ENDING.test(basePath)) return suggest("must end before the route", url);
  if (!PLAIN_PATH.test(basePath))
    return { problem: "must have a path without empty segments and escapes", meant: null };
  return null;
}

function describeNotAbsolute(text: string): WrongBaseUrl {
  const wanted = 'must be an absolute URL such as "https://api.example.com/v1"';
  const guess = `https://${text}`;
  if (text.includes("//") || !URL.canParse(guess)) return { problem: wanted, meant: null };
  const url = new URL(guess);
  if (isLoopbackHost(url.hostname)) url.protocol = "http:";
  return url.hostname.includes(".") || isLoopbackHost(url.hostname)
    ? suggest(wanted, url)
    : { problem: wanted, meant: null };
}

/** Repeats only origin and path: user info, query and fragment may hold a key. */
function suggest(problem: string, url: URL): WrongBaseUrl {
  const path = pathOf(url).replace(ROUTE_ENDING, "");
  const start = BEDROCK_HOST.test(url.hostname) ? "/model" : "/v1";
  const meant = APIS[url.hostname] ?? url.origin + (path === "" ? start : sanitizeText(path));
  return { problem: `${problem}; did you mean "${meant}"?`, meant };
}

function pathOf(url: URL): string {
  return url.pathname.replace(/\/$/, "");
}

/** True when `hostname` means this machine. Expects a `URL.hostname`, where every IPv4 address has four decimal parts. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
