import { KEY_VALUE_FOUND, looksLikeKey, sanitizeText } from "./problem.ts";
import { Secret } from "../secrets/secret.ts";

/** The address of an HTTP proxy between us and the upstreams. */
export interface ProxyAddress {
  /** Scheme, host and port, as `URL.origin` gives it; `https:` for TLS to the proxy itself. Safe to show. */
  origin: string;
  /** `USER:PASSWORD` for basic authentication; null when the address names no user. */
  credentials: Secret | null;
}

const WANTED = 'must be the address of an HTTP proxy such as "http://proxy.example.com:8080"';

const ESCAPE =
  'in its user name and password, write "%", "/", "?", "#", "@" and ":" as "%25", "%2F", "%3F", "%23", "%40" and "%3A"';

/** Parses a proxy's URL. Returns the address, or what is wrong with it, without repeating user name or password. */
export function parseProxyUrl(text: string): ProxyAddress | { problem: string } {
  if (looksLikeKey(text)) return { problem: KEY_VALUE_FOUND };
  if (/^socks/i.test(text)) return { problem: `${WANTED}; SOCKS proxies are not supported` };
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return { problem: describeNotProxy(text) };
  const url = new URL(text);
  if (hasSplitCredentials(text, url)) return { problem: ESCAPE };
  if (url.pathname !== "/" || /[?#]/.test(text))
    return { problem: `must end after the port; ${suggest(url)}` };
  if (url.username === "" && url.password === "") return { origin: url.origin, credentials: null };
  const [user, password] = [decode(url.username), decode(url.password)];
  if (user === null || password === null) return { problem: ESCAPE };
  // RFC 7617 section 2.
  if (user.includes(":") || /\p{Cc}/u.test(user + password)) {
    return {
      problem:
        "its user name must not contain a colon, and neither it nor the password may contain control characters",
    };
  }
  return { origin: url.origin, credentials: new Secret(`${user}:${password}`) };
}

/** True when the URL parser took a part of the user name or password for the host, because of an unescaped character. */
function hasSplitCredentials(text: string, url: URL): boolean {
  const hasUser = url.username !== "" || url.password !== "";
  return text.includes("@") && (!hasUser || `${url.pathname}${url.search}${url.hash}`.includes("@"));
}

function describeNotProxy(text: string): string {
  const guess = `http://${text}`;
  if (text.includes("//") || !URL.canParse(guess))
    return text.includes("@") ? `${WANTED}; ${ESCAPE}` : WANTED;
  const url = new URL(guess);
  return `${WANTED}; ${hasSplitCredentials(text, url) ? ESCAPE : suggest(url)}`;
}

/** Repeats only scheme, host and port: user info, path and query may hold a secret. */
function suggest(url: URL): string {
  const user = url.username === "" && url.password === "" ? "" : "USER:PASSWORD@";
  return `did you mean "${url.protocol}//${user}${sanitizeText(url.host)}"?`;
}

/** null when an escape is invalid. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
