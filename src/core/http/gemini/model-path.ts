import { isId } from "../path-id.ts";
import { decodePercent } from "../../text/decode-percent.ts";

/** What stands before the name of a model where a body names one: `models/gemini-2.5-flash`. */
const COLLECTION = "models/";

/** What is asked of a model in Google's API (docs/wire.md section 12). */
const MODEL_ACTIONS = [
  "generateContent",
  "streamGenerateContent",
  "countTokens",
  "computeTokens",
  "embedContent",
  "batchEmbedContents",
  "asyncBatchEmbedContent",
  "batchGenerateContent",
  "predict",
  "predictLongRunning",
  "fetchPredictOperation",
  "rawPredict",
  "streamRawPredict",
] as const;

/** Those by which a batch is created. Its requests are in the body or in a file, and each may name a model of its own. */
export const BATCH_ACTIONS = [
  "batchGenerateContent",
  "asyncBatchEmbedContent",
] as const satisfies ModelAction[];

export type ModelAction = (typeof MODEL_ACTIONS)[number];

/** A path of Google's API that names a model. */
export interface ModelPath {
  /** The model's name, decoded: `gemini-2.5-flash`, or `tunedModels/ID` and `endpoints/ID`, which are names of their own. */
  model: string;
  /** Whose model it is, at Vertex; null where the path does not say. */
  publisher: string | null;
  /** null for the model's description, a GET. */
  action: ModelAction | null;
  /** Where the resource stands in the path: `models/NAME`, without action. */
  start: number;
  end: number;
}

/** A version, or the same one twice: a base URL that ends with it, before a client that adds it. */
export const VERSION = String.raw`\/(v1|v1beta|v1alpha|v1beta1)(?:\/\1)?`;

/** What stands before the model at Vertex. A project's id may begin with a domain, `example.com:project`. */
export const PROJECT = String.raw`projects\/[A-Za-z0-9][A-Za-z0-9.:_-]*\/locations\/[a-z0-9-]+\/`;

/** A name, an escape in it, and `:` or its escape before an action. The path ends there. */
const RESOURCE = String.raw`((?:models|tunedModels|endpoints)\/([^/:]+?))(?:(?::|%3[Aa])([A-Za-z]+))?`;

const MODEL_PATH = new RegExp(
  String.raw`^${VERSION}\/(?:(${PROJECT})?(?:publishers\/([a-z0-9-]+)\/)?)?${RESOURCE}$`,
  "d",
);

/** What a name has, decoded. No slash, colon, semicolon or space: a server on the way could take these for something else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+~-]*$/;

/**
 * Returns the model that a raw path without query and tool mark names; null for a path that names none, or not clearly. It is strict,
 * because the service must not read another model in the path than the budgets and rules here: one name in one segment, no second colon
 * in any spelling, no dot, slash, colon or percent sign in an escape, and an action that is known (SECURITY.md B2).
 */
export function readModelPath(path: string): ModelPath | null {
  const match = MODEL_PATH.exec(path);
  const span = match?.indices?.[4];
  if (match === null || span === undefined) return null;
  const [, , project, publisher = null, resource = "", raw = "", action] = match;
  const name = decodePercent(raw);
  const isClear = isId(raw) && NAME.test(name);
  const kind = resource.slice(0, resource.indexOf("/"));
  if (!isClear || !isPlaced(kind, project !== undefined, publisher !== null)) return null;
  if (action !== undefined && !isAction(action)) return null;
  const [start, end] = span;
  return {
    model: kind === "models" ? name : `${kind}/${name}`,
    publisher,
    action: action ?? null,
    start,
    end,
  };
}

/** True where this kind of resource can stand: a project has models of a publisher, and endpoints. */
function isPlaced(kind: string, hasProject: boolean, hasPublisher: boolean): boolean {
  if (kind === "models") return hasPublisher || !hasProject;
  return kind === "endpoints" ? hasProject && !hasPublisher : !hasProject && !hasPublisher;
}

function isAction(action: string): action is ModelAction {
  return MODEL_ACTIONS.some((known) => known === action);
}

/** Returns the path with another model in its place; null for a name that no such path can have. */
export function replaceModel(
  path: string,
  { start, end }: Pick<ModelPath, "start" | "end">,
  model: string,
): string | null {
  const resource = /^(?:tunedModels|endpoints)\//.test(model) ? model : `models/${model}`;
  const replaced = path.slice(0, start) + resource + path.slice(end);
  return readModelPath(replaced)?.model === model ? replaced : null;
}

/** Returns a model's name as a path has it, by what a body says: without `models/`. */
export function withoutCollection(model: string): string {
  return model.startsWith(COLLECTION) ? model.slice(COLLECTION.length) : model;
}

/** Returns a model's name as a body says it. */
export function withCollection(model: string): string {
  return /^(?:tunedModels|models)\//.test(model) ? model : COLLECTION + model;
}
