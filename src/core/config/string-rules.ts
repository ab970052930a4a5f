import { mayBeToken } from "../identity/local-token.ts";
import { KEY_VALUE_FOUND, looksLikeKey } from "./problem.ts";

/*
 * What the strings in the configuration must look like. Every function returns what is wrong and the likely fix,
 * or null; none repeats the string, which may hold a key.
 */

/** Names of upstreams, tools and keys: safe in a path, a header, a file name and a terminal. */
export const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const NAME_WORDS =
  'a name is 1 to 64 of a-z, 0-9, ".", "_" and "-", in lower case, and starts with a letter or digit';

/** Judges the name of an upstream or tool. */
export function judgeName(text: string): string | null {
  return NAME.test(text) ? null : NAME_WORDS;
}

/** Judges the name of a tool, where no local token may stand. */
export function judgeToolName(text: string): string | null {
  return mayBeToken(text)
    ? 'a tool\'s name does not begin with "tollkeeper-", as local tokens do'
    : judgeName(text);
}

/** Judges the name of a key, where people paste the key itself. */
export function judgeKeyName(text: string): string | null {
  return looksLikeKey(text) ? KEY_VALUE_FOUND : judgeName(text);
}

/** Judges the name of a systemd credential: a file name in the directory that systemd prepares (systemd.exec(5)). */
export function judgeCredentialName(text: string): string | null {
  if (looksLikeKey(text)) return KEY_VALUE_FOUND;
  return /^[\w-][\w.-]{0,254}$/.test(text) ? null : "must be a credential's plain name, not a path";
}

/** Judges the path of a file or directory on this machine: the daemon has no working directory to start from. */
export function judgeFilePath(text: string): string | null {
  return /^(?:\/|~\/|[A-Za-z]:[\\/])/.test(text) ? null : 'must be an absolute path, or start with "~/"';
}

/** Judges an entry of `listen.allowedHosts`, which is compared with the Host header (RFC 9110 section 7.2). */
export function judgeHost(text: string): string | null {
  if (/^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::\d{1,5})?$/.test(text)) return null;
  return 'must be a host in lower case, with its port where it has one, such as "host.docker.internal:8655"';
}

/** Judges an entry of `listen.allowedOrigins`, which is compared with the Origin header (RFC 6454 section 6.2). */
export function judgeOrigin(text: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._[\]:-]+$/.test(text)) return null;
  return 'must be an origin, scheme://host[:port] in lower case and nothing after it, such as "https://ide.example.com"';
}

/** Dots alone would climb out of the base path. */
const ROUTE_SEGMENT = /^(?!\.{1,2}$)(?:[\w.-]+|\{id\})$/;

/** Judges an extra route's path, which is matched by equality and sent on as it is. */
export function judgeRoutePath(text: string): string | null {
  if (!text.startsWith("/")) return 'must start with "/"';
  if (/[?#]/.test(text)) return "must hold no query; queries pass by themselves";
  const segments = text.slice(1).split("/");
  if (segments.some((segment) => !ROUTE_SEGMENT.test(segment))) {
    return 'its segments may hold A-Z, a-z, 0-9, ".", "_" and "-" only, or be "{id}"';
  }
  if (segments.filter((segment) => segment === "{id}").length > 1) return 'only one segment may be "{id}"';
  if (segments[0] === "v1") return 'is below "/v1" already: leave out the leading "/v1"';
  if (segments[0] === "t" || segments[0] === "_tollkeeper") {
    return 'may not start with "/t" or "/_tollkeeper", which tollkeeper answers itself';
  }
  return null;
}
