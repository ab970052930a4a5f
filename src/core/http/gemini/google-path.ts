import { isId } from "../path-id.ts";
import { readModelPath, PROJECT, VERSION, type ModelAction, type ModelPath } from "./model-path.ts";

/** How the paths of the routes of Google's API begin: one version stands for all of them. */
export const GOOGLE_ROOT = "/v1beta/";

/** What stands for a model where tokens are counted. */
const COUNT_TOKENS = "count-tokens";

/** The route by which Vertex counts tokens for Claude. */
export const GOOGLE_COUNT = `${GOOGLE_ROOT}models/${COUNT_TOKENS}:rawPredict`;

/** How those of the routes begin by which the bytes of a file are sent. */
export const GOOGLE_UPLOAD = `/upload${GOOGLE_ROOT}`;

/** How those of the routes begin by which they are fetched. */
export const GOOGLE_DOWNLOAD = `/download${GOOGLE_ROOT}`;

/** The routes by which the bytes of a file are fetched. The first one redirects to the second. */
export const GOOGLE_CONTENT: readonly string[] = [
  `${GOOGLE_ROOT}files/{id}:download`,
  `${GOOGLE_DOWNLOAD}files/{id}:download`,
];

const ROOTS = new Map([
  ["", GOOGLE_ROOT],
  ["/upload", GOOGLE_UPLOAD],
  ["/download", GOOGLE_DOWNLOAD],
]);

/** A path of Google's API. */
interface GooglePath {
  /** The path of its route. */
  route: string;
  /** The path to request, with its version once. */
  path: string;
  /** The model that {@link path} names; null where it names none. */
  named: ModelPath | null;
  /** The id of what is stored, or the publisher of a list; null where the path has neither. */
  id: string | null;
}

/** Stores of files that are searched. */
const FILE_STORES = "fileSearchStores";
const STORE = `${FILE_STORES}/{id}`;

/** The routes by which files come into a store: their indexing is paid, and no response says how much. */
export const GOOGLE_STORES = `${GOOGLE_ROOT}${FILE_STORES}`;
export const STORE_IMPORT = `${GOOGLE_ROOT}${STORE}:importFile`;
export const STORE_UPLOAD = `${GOOGLE_UPLOAD}${STORE}:uploadToFileSearchStore`;

/** What is no model: lists, and what is in them, with what is done to it. Cached contents are in a project at Vertex. */
const COLLECTION = new RegExp(
  String.raw`^${VERSION}\/(${PROJECT})?([A-Za-z]+)(?:\/([\w.~=-]+)((?::|%3[Aa]|\/)[A-Za-z]+)?)?$`,
);

/** What is in a store of files that are searched: its documents, and what indexes them. */
const IN_STORE = new RegExp(
  String.raw`^${VERSION}\/(${FILE_STORES}\/[\w.~=-]+\/(?:documents|operations|upload\/operations))(?:\/([\w.~=-]+))?$`,
);

/** The list of a publisher's models, at Vertex. */
const PUBLISHED = new RegExp(String.raw`^${VERSION}\/publishers\/([a-z0-9-]+)\/models$`);

/** The route of that list. */
export const VERTEX_LIST = `${GOOGLE_ROOT}publishers/{id}/models`;

/** An operation of a model, such as a video that is being made. */
const OPERATION = /\/operations\/([\w.~=-]+)$/;

/** The paths that {@link COLLECTION} may have found, below their root. */
const KNOWN: ReadonlySet<string> = new Set([
  `${GOOGLE_ROOT}models`,
  `${GOOGLE_ROOT}cachedContents`,
  `${GOOGLE_ROOT}cachedContents/{id}`,
  `${GOOGLE_ROOT}files`,
  `${GOOGLE_ROOT}files/{id}`,
  ...GOOGLE_CONTENT,
  `${GOOGLE_ROOT}batches`,
  `${GOOGLE_ROOT}batches/{id}`,
  `${GOOGLE_ROOT}batches/{id}:cancel`,
  `${GOOGLE_ROOT}interactions`,
  `${GOOGLE_ROOT}interactions/{id}`,
  `${GOOGLE_ROOT}interactions/{id}/cancel`,
  `${GOOGLE_UPLOAD}files`,
  GOOGLE_STORES,
  `${GOOGLE_STORES}/{id}`,
  STORE_IMPORT,
  STORE_UPLOAD,
]);

/** The version twice: a base URL that ends with it, before a client that adds it. */
const TWICE = /^\/(v1(?:beta1?|alpha)?)(?=\/\1\/)/;

/** What stands before the version where bytes are sent or fetched, also behind a base URL that ends with a version. */
const TRANSFER = /^(?:\/v1(?:beta1?|alpha)?)?(\/(?:upload|download))(?=\/v1)/;

/** The version at the end of a base URL's path. */
const AT_END = /\/v1(?:beta1?|alpha)?$/;

/**
 * Reads a raw path of Google's API without query and tool mark, in any version; null for any other path, and for one that does not name its
 * model clearly ({@link readModelPath}).
 */
export function readGooglePath(path: string): GooglePath | null {
  const [before = "", transfer = ""] = TRANSFER.exec(path) ?? [];
  const once = path.slice(before.length).replace(TWICE, "");
  if (transfer === "") {
    const ofModel = readPathOfModel(once);
    if (ofModel !== null) return ofModel;
    const publisher = PUBLISHED.exec(once)?.[2] ?? null;
    if (publisher !== null) return { route: VERTEX_LIST, path: once, named: null, id: publisher };
  }
  const inStore = transfer === "" ? readPathInStore(once) : null;
  if (inStore !== null) return inStore;
  const [matched, , project, collection = "", id, action = ""] = COLLECTION.exec(once) ?? [];
  if (matched === undefined || (id !== undefined && !isId(id))) return null;
  if (project !== undefined && collection !== "cachedContents") return null;
  const below = id === undefined ? "" : `/{id}${action.replace(/^%3a/i, ":")}`;
  const route = `${ROOTS.get(transfer) ?? ""}${collection}${below}`;
  return KNOWN.has(route) ? { route, path: transfer + once, named: null, id: id ?? null } : null;
}

/** Reads a path of what is in a store. Each is known by the id of its store. */
function readPathInStore(path: string): GooglePath | null {
  const [, , collection = "", below] = IN_STORE.exec(path) ?? [];
  const [, id = "", ...kind] = collection.split("/");
  if (collection === "" || !isId(id) || (below !== undefined && !isId(below))) return null;
  const route = `${GOOGLE_STORES}/{id}/${kind.join("/")}${below === undefined ? "" : "/{id}"}`;
  return { route, path, named: null, id };
}

/** Reads a path that names a model: what is asked of it, or an operation of it. */
function readPathOfModel(path: string): GooglePath | null {
  const [end = "", id = null] = OPERATION.exec(path) ?? [];
  if (id !== null && !isId(id)) return null;
  const named = readModelPath(path.slice(0, path.length - end.length));
  if (named === null) return null;
  if (named.action === "rawPredict" || named.action === "streamRawPredict")
    return id === null ? readRawPath(path, named, named.action) : null;
  const route = `${GOOGLE_ROOT}${id === null ? "models" : "operations"}/{id}`;
  if (named.action === null) return { route, path, named, id };
  return id === null ? { route: `${route}:${named.action}`, path, named, id } : null;
}

/**
 * Reads the path of what Vertex passes on as it is. Only of Anthropic's models is known what that is: the Messages API. Its count of tokens
 * has a fixed name in place of a model's, and the model in the body.
 */
function readRawPath(path: string, named: ModelPath, action: ModelAction): GooglePath | null {
  if (named.publisher !== "anthropic") return null;
  if (named.model !== COUNT_TOKENS)
    return { route: `${GOOGLE_ROOT}models/{id}:${action}`, path, named, id: null };
  return action === "rawPredict" ? { route: GOOGLE_COUNT, path, named: null, id: null } : null;
}

/** True for the path of a route of Google's API, which {@link readGooglePath} finds. */
export function isGoogleRoute(path: string): boolean {
  return path.startsWith(GOOGLE_ROOT) || path.startsWith(GOOGLE_UPLOAD) || path.startsWith(GOOGLE_DOWNLOAD);
}

/** Returns an upstream's base path for Google's paths, which have a version of their own: without the one at its end. */
export function googleBasePath(basePath: string): string {
  return basePath.replace(AT_END, "");
}
