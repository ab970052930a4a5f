import { sanitizeText } from "../config/problem.ts";

/** Long enough for any endpoint, and short enough for a line. */
const MAX_SHOWN = 80;

/**
 * Endpoints that tools are known to request and that are not forwarded by default. All take JSON, so that `routes` in the
 * configuration can add them; their usage is not read.
 */
const JSON_ENDPOINT = /^(?:\/v1){0,2}(\/(?:moderations|rerank|images\/generations|audio\/speech))$/;

/** No path of an API has them. In a message they could act as markup or terminal controls (SECURITY.md A7, E3). */
const UNUSUAL = /[^\w/.~%:@+,=-]/g;

/** Shortens a client's path for a message, without its query, what looks like a key, and unusual characters. */
export function showPath(url: string): string {
  const [path = ""] = url.split(/[?#]/, 1);
  // The absolute form may contain a password.
  if (!path.startsWith("/")) return "an invalid path";
  const shown = sanitizeText(path.replaceAll(UNUSUAL, "?"));
  return shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN)}...`;
}

/** Returns the path that `routes` in the configuration would need for this request to be forwarded; null when unknown. */
export function findOptionalRoute(method: string, path: string): string | null {
  return method === "POST" ? (JSON_ENDPOINT.exec(path)?.[1] ?? null) : null;
}
