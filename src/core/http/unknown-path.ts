import { sanitizeText } from "../config/problem.ts";

/** Long enough for any endpoint, and short enough for a line. */
const MAX_SHOWN = 80;

/**
 * Endpoints that are known to be asked for and are not carried by default. All take and return JSON, so that `routes` in the
 * configuration can carry them; their usage is not read.
 */
const JSON_ENDPOINT =
  /^(?:\/v1){0,2}(\/(?:chat\/completions|completions|embeddings|moderations|rerank|images\/generations|audio\/speech))$/;

/** No path of an API has them. In the message they could be taken for markup or for a terminal's control (SECURITY.md A7, E3). */
const UNUSUAL = /[^\w/.~%:@+,=-]/g;

/** Makes a client's path fit for a message: without its query, what looks like a key, and unusual characters; and short. */
export function showPath(url: string): string {
  const [path = ""] = url.split(/[?#]/, 1);
  // The absolute form may have a password in it.
  if (!path.startsWith("/")) return "what is no path";
  const shown = sanitizeText(path.replaceAll(UNUSUAL, "?"));
  return shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN)}...`;
}

/** Returns the path, as `routes` in the configuration names it, of a request that could be carried; null when unknown. */
export function findOptionalRoute(method: string, path: string): string | null {
  return method === "POST" ? (JSON_ENDPOINT.exec(path)?.[1] ?? null) : null;
}
