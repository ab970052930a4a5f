import { isFixedHeader } from "../http/header-policy.ts";
import { KEY_VALUE_FOUND, looksLikeKey } from "./problem.ts";

// Each check returns what is wrong with a string of the configuration and the likely fix, or null. None repeats the string,
// which may be a key.

/** Checks the name of a systemd credential: a file name in the directory that systemd prepares (systemd.exec(5)). */
export function checkCredentialName(text: string): string | null {
  if (looksLikeKey(text)) return KEY_VALUE_FOUND;
  return /^[\w-][\w.-]{0,254}$/.test(text) ? null : "must be the name of a credential, not a path";
}

/** Checks the path of a file or directory. It must be absolute, because the daemon has no meaningful working directory. */
export function checkFilePath(text: string): string | null {
  return /^(?:\/|~\/|[A-Za-z]:[\\/])/.test(text) ? null : 'must be an absolute path, or start with "~/"';
}

/** Checks an entry of `listen.allowedHosts`, which is compared with the Host header (RFC 9110 section 7.2). */
export function checkHost(text: string): string | null {
  if (/^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::\d{1,5})?$/.test(text)) return null;
  return 'must be a host in lower case, with its port if it has one, such as "host.docker.internal:8655"';
}

/** Checks an entry of `listen.allowedOrigins`, which is compared with the Origin header (RFC 6454 section 6.2). */
export function checkOrigin(text: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._[\]:-]+$/.test(text)) return null;
  return 'must be an origin, scheme://host[:port] in lower case with nothing after it, such as "https://ide.example.com"';
}

/** Checks the name of a header that is sent with each request to an upstream. Credentials and what tollkeeper itself sends are refused. */
export function checkHeaderName(name: string): string | null {
  if (looksLikeKey(name)) return KEY_VALUE_FOUND;
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) return "a header name may contain only a-z, 0-9 and -";
  if (RESERVED_HEADERS.test(name)) return "tollkeeper sets this header itself; remove it";
  if (isFixedHeader(name)) return null;
  return 'looks like a credential, and a key never belongs in this file; store it with `tollkeeper key set`, and see "auth"';
}

/** Set by tollkeeper or by HTTP itself, and those by which a client is told apart. */
const RESERVED_HEADERS =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|accept-encoding|content-.*|x-tollkeeper-.*|proxy-.*|sec-.*)$/;

/** Checks the value of such a header. */
export function checkHeaderValue(text: string): string | null {
  if (looksLikeKey(text)) return KEY_VALUE_FOUND;
  return /^[\x21-\x7e](?:[\x20-\x7e]{0,510}[\x21-\x7e])?$/.test(text)
    ? null
    : "must have 1 to 512 printable ASCII characters";
}

/** Checks the name of a query parameter that is sent with each request to an upstream. */
export function checkQueryName(name: string): string | null {
  if (looksLikeKey(name)) return KEY_VALUE_FOUND;
  if (!/^[\w.-]{1,64}$/.test(name)) return 'a parameter\'s name has only A-Z, a-z, 0-9, ".", "_" and "-"';
  return isFixedHeader(name)
    ? null
    : 'looks like a credential, and a key never belongs in a query, which logs contain; see "auth"';
}

/** Checks the value of such a parameter. */
export function checkQueryValue(text: string): string | null {
  if (looksLikeKey(text)) return KEY_VALUE_FOUND;
  return /^[\x21-\x7e]{1,256}$/.test(text)
    ? null
    : "must have 1 to 256 printable ASCII characters, no spaces";
}

/** Checks the name of a query parameter that tools may send to an upstream though it looks like a credential. */
export function checkAllowedQueryName(name: string): string | null {
  if (looksLikeKey(name)) return KEY_VALUE_FOUND;
  return /^[\x21-\x7e]{1,64}$/.test(name)
    ? null
    : "must be a name of 1 to 64 printable ASCII characters, no spaces";
}

/** Excludes `.` and `..`, which could leave the base path. */
const ROUTE_SEGMENT = /^(?!\.{1,2}$)(?:[\w.-]+|\{id\}(?::[A-Za-z]+)?)$/;

/** Checks the path of an extra route, which is matched by equality and forwarded unchanged. */
export function checkRoutePath(text: string): string | null {
  if (!text.startsWith("/")) return 'must start with "/"';
  if (/[?#]/.test(text)) return "must not contain a query; queries are always forwarded";
  const segments = text.slice(1).split("/");
  if (segments.some((segment) => !ROUTE_SEGMENT.test(segment))) {
    return 'its segments may contain only A-Z, a-z, 0-9, ".", "_" and "-", or be "{id}"';
  }
  if (segments.filter((segment) => segment.startsWith("{id}")).length > 1)
    return 'only one segment may be "{id}"';
  if (segments[0] === "v1") return 'is already relative to "/v1"; remove the leading "/v1"';
  if (segments[0] === "t" || segments[0] === "_tollkeeper") {
    return 'must not start with "/t" or "/_tollkeeper", which tollkeeper handles itself';
  }
  return null;
}
