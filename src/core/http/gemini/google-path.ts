import { isId } from "../path-id.ts";
import { readModelPath, PROJECT, VERSION, type ModelPath } from "./model-path.ts";

/** How the paths of the routes of Google's API begin: one version stands for all of them. */
export const GOOGLE_ROOT = "/v1beta/";

/** A path of Google's API. */
interface GooglePath {
  /** The path of its route. */
  route: string;
  /** The path to request, with its version once. */
  path: string;
  /** The model that {@link path} names; null where it names none. */
  named: ModelPath | null;
}

/** What is no model: their list, and the cached contents, at Vertex in a project. */
const COLLECTION = new RegExp(
  String.raw`^${VERSION}\/(?:(models)|(?:${PROJECT})?(cachedContents)(?:\/([^/]+))?)$`,
);

/** The version twice: a base URL that ends with it, before a client that adds it. */
const TWICE = /^\/(v1(?:beta1?|alpha)?)(?=\/\1\/)/;

/** The version at the end of a base URL's path. */
const AT_END = /\/v1(?:beta1?|alpha)?$/;

/**
 * Reads a raw path of Google's API without query and tool mark, in any version; null for any other path, and for one that does not name its
 * model clearly ({@link readModelPath}).
 */
export function readGooglePath(path: string): GooglePath | null {
  const once = path.replace(TWICE, "");
  const named = readModelPath(once);
  if (named !== null) {
    const action = named.action === null ? "" : `:${named.action}`;
    return { route: `${GOOGLE_ROOT}models/{id}${action}`, path: once, named };
  }
  const [matched, , models, contents = "", id] = COLLECTION.exec(once) ?? [];
  if (matched === undefined || (id !== undefined && !isId(id))) return null;
  const below = id === undefined ? "" : "/{id}";
  return { route: `${GOOGLE_ROOT}${models ?? contents + below}`, path: once, named: null };
}

/** Returns an upstream's base path for Google's paths, which have a version of their own: without the one at its end. */
export function googleBasePath(basePath: string): string {
  return basePath.replace(AT_END, "");
}
