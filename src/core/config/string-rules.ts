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

/** Excludes `.` and `..`, which could leave the base path. */
const ROUTE_SEGMENT = /^(?!\.{1,2}$)(?:[\w.-]+|\{id\})$/;

/** Checks the path of an extra route, which is matched by equality and forwarded unchanged. */
export function checkRoutePath(text: string): string | null {
  if (!text.startsWith("/")) return 'must start with "/"';
  if (/[?#]/.test(text)) return "must not contain a query; queries are always forwarded";
  const segments = text.slice(1).split("/");
  if (segments.some((segment) => !ROUTE_SEGMENT.test(segment))) {
    return 'its segments may contain only A-Z, a-z, 0-9, ".", "_" and "-", or be "{id}"';
  }
  if (segments.filter((segment) => segment === "{id}").length > 1) return 'only one segment may be "{id}"';
  if (segments[0] === "v1") return 'is already relative to "/v1"; remove the leading "/v1"';
  if (segments[0] === "t" || segments[0] === "_tollkeeper") {
    return 'must not start with "/t" or "/_tollkeeper", which tollkeeper handles itself';
  }
  return null;
}
