import type { Api } from "../core/http/api.ts";
import { GOOGLE_COUNT, readGooglePath } from "../core/http/gemini/google-path.ts";
import { LIVE_ROUTE, readLivePath } from "../core/http/gemini/live-path.ts";
import { bedrockRoute, isLikeBedrock, readBedrockPath } from "../core/http/bedrock/model-path.ts";
import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { converse, countBedrockTokens, invoke } from "./bedrock/actions.ts";
import { cancelBatch, createBatch, fetchBatch, listBatches } from "./batches.ts";
import {
  cancelMessageBatch,
  createMessageBatch,
  deleteMessageBatch,
  fetchMessageBatch,
  fetchResults,
  listMessageBatches,
} from "./batches/message-batches.ts";
import { createChatCompletion } from "./chat.ts";
import { createCompletion } from "./completions.ts";
import { createEmbeddings } from "./embeddings.ts";
import { ApiError, type Vendor } from "./errors.ts";
import {
  addPart,
  cancelUpload,
  completeUpload,
  createFile,
  createUpload,
  deleteFile,
  fetchContent,
  fetchFile,
  listFiles,
} from "./files.ts";
import type { AuthScheme } from "./keys.ts";
import {
  countContentTokens,
  embedContent,
  fetchGeminiModel,
  generateContent,
  listGeminiModels,
} from "./gemini.ts";
import {
  cancelGoogleBatch,
  createGoogleBatch,
  deleteGoogleBatch,
  fetchGoogleBatch,
  listGoogleBatches,
} from "./gemini/batches.ts";
import {
  cancelInteraction,
  createInteraction,
  deleteInteraction,
  fetchInteraction,
} from "./gemini/interactions.ts";
import { fetchOperation, predict, predictLater, predictRaw } from "./gemini/predictions.ts";
import {
  deleteGoogleFile,
  downloadGoogleFile,
  fetchGoogleFile,
  listGoogleFiles,
  uploadFile,
} from "./gemini/files.ts";
import { countMessageTokens, createMessage } from "./messages.ts";
import { fetchModel, listModels } from "./models.ts";
import type { Profile } from "./profiles.ts";
import { compactResponse, countInputTokens, createResponse } from "./responses.ts";
import { cancelResponse, deleteResponse, fetchResponse, listInputItems } from "./responses/stored.ts";
import { createImage, speak, transcribe } from "./media.ts";
import { moderate, rerank, searchWeb } from "./side-calls.ts";

/** What a route does. Its path is relative to the base URL, except Google's, which has its version in place of that. */
interface Handler {
  method: "GET" | "POST" | "DELETE";
  path: string;
  /** True for a POST that may have no body. */
  mayBeEmpty?: boolean;
  /** True for a POST that may have a form with files. */
  takesForm?: boolean;
  /** True for one whose form is a file to keep. */
  keepsFile?: boolean;
  /** True for one that takes the bytes of a file, in steps. */
  takesBytes?: boolean;
  /** Path of the route under which its tokens are tallied; by default its own. */
  billedTo?: string;
  handle: (request: ApiRequest, state: RouteState) => ApiResponse;
}

/** One route of the service. */
export interface Route extends Handler {
  scheme: AuthScheme;
}

const MESSAGE_BATCH = "/messages/batches/{id}";
const RAW = "/v1beta/models/{id}:rawPredict";
const STREAM_RAW = "/v1beta/models/{id}:streamRawPredict";
const GOOGLE_FILE = "/v1beta/files/{id}";
const GOOGLE_BATCH = "/v1beta/batches/{id}";
const INTERACTION = "/v1beta/interactions/{id}";

const HANDLERS: readonly Handler[] = [
  { method: "GET", path: "/models", handle: listModels },
  { method: "GET", path: "/models/{id}", handle: fetchModel },
  { method: "POST", path: "/responses", handle: createResponse },
  { method: "POST", path: "/responses/compact", handle: compactResponse },
  { method: "POST", path: "/responses/input_tokens", handle: countInputTokens },
  { method: "GET", path: "/responses/{id}", billedTo: "/responses", handle: fetchResponse },
  { method: "DELETE", path: "/responses/{id}", handle: deleteResponse },
  { method: "POST", path: "/responses/{id}/cancel", mayBeEmpty: true, handle: cancelResponse },
  { method: "GET", path: "/responses/{id}/input_items", handle: listInputItems },
  { method: "POST", path: "/alpha/search", handle: searchWeb },
  { method: "POST", path: "/messages", handle: createMessage },
  { method: "POST", path: "/messages/count_tokens", handle: countMessageTokens },
  { method: "POST", path: "/chat/completions", handle: createChatCompletion },
  { method: "POST", path: "/completions", handle: createCompletion },
  { method: "POST", path: "/embeddings", handle: createEmbeddings },
  { method: "POST", path: "/images/generations", handle: createImage },
  { method: "POST", path: "/images/edits", takesForm: true, handle: createImage },
  { method: "POST", path: "/images/variations", takesForm: true, handle: createImage },
  { method: "POST", path: "/audio/speech", handle: speak },
  { method: "POST", path: "/audio/transcriptions", takesForm: true, handle: transcribe },
  { method: "POST", path: "/audio/translations", takesForm: true, handle: transcribe },
  { method: "POST", path: "/moderations", handle: moderate },
  { method: "POST", path: "/rerank", handle: rerank },
  { method: "POST", path: "/files", keepsFile: true, handle: createFile },
  { method: "GET", path: "/files", handle: listFiles },
  { method: "GET", path: "/files/{id}", handle: fetchFile },
  { method: "DELETE", path: "/files/{id}", handle: deleteFile },
  { method: "GET", path: "/files/{id}/content", handle: fetchContent },
  { method: "POST", path: "/uploads", handle: createUpload },
  { method: "POST", path: "/uploads/{id}/parts", keepsFile: true, handle: addPart },
  { method: "POST", path: "/uploads/{id}/complete", handle: completeUpload },
  { method: "POST", path: "/uploads/{id}/cancel", mayBeEmpty: true, handle: cancelUpload },
  { method: "POST", path: "/batches", handle: createBatch },
  { method: "GET", path: "/batches", handle: listBatches },
  { method: "GET", path: "/batches/{id}", billedTo: "/batches", handle: fetchBatch },
  { method: "POST", path: "/batches/{id}/cancel", mayBeEmpty: true, handle: cancelBatch },
  { method: "POST", path: "/messages/batches", handle: createMessageBatch },
  { method: "GET", path: "/messages/batches", handle: listMessageBatches },
  { method: "GET", path: MESSAGE_BATCH, billedTo: "/messages/batches", handle: fetchMessageBatch },
  { method: "DELETE", path: MESSAGE_BATCH, handle: deleteMessageBatch },
  { method: "POST", path: `${MESSAGE_BATCH}/cancel`, mayBeEmpty: true, handle: cancelMessageBatch },
  { method: "GET", path: `${MESSAGE_BATCH}/results`, handle: fetchResults },
  { method: "GET", path: "/v1beta/models", handle: listGeminiModels },
  { method: "GET", path: "/v1beta/models/{id}", handle: fetchGeminiModel },
  { method: "POST", path: "/v1beta/models/{id}:generateContent", handle: generateContent },
  { method: "POST", path: "/v1beta/models/{id}:streamGenerateContent", handle: generateContent },
  { method: "POST", path: "/v1beta/models/{id}:countTokens", handle: countContentTokens },
  { method: "POST", path: "/v1beta/models/{id}:embedContent", handle: embedContent },
  { method: "POST", path: "/v1beta/models/{id}:batchEmbedContents", handle: embedContent },
  { method: "POST", path: RAW, handle: predictRaw },
  { method: "POST", path: STREAM_RAW, handle: predictRaw },
  { method: "POST", path: GOOGLE_COUNT, handle: countMessageTokens },
  { method: "POST", path: bedrockRoute("converse"), handle: converse },
  { method: "POST", path: bedrockRoute("converse-stream"), handle: converse },
  { method: "POST", path: bedrockRoute("invoke"), handle: invoke },
  { method: "POST", path: bedrockRoute("invoke-with-response-stream"), handle: invoke },
  { method: "POST", path: bedrockRoute("count-tokens"), handle: countBedrockTokens },
  { method: "POST", path: "/v1beta/models/{id}:predict", handle: predict },
  { method: "POST", path: "/v1beta/models/{id}:predictLongRunning", handle: predictLater },
  { method: "GET", path: "/v1beta/operations/{id}", handle: fetchOperation },
  { method: "POST", path: "/v1beta/interactions", handle: createInteraction },
  { method: "GET", path: INTERACTION, billedTo: "/v1beta/interactions", handle: fetchInteraction },
  { method: "DELETE", path: INTERACTION, handle: deleteInteraction },
  { method: "POST", path: `${INTERACTION}/cancel`, mayBeEmpty: true, handle: cancelInteraction },
  { method: "POST", path: "/v1beta/models/{id}:batchGenerateContent", handle: createGoogleBatch },
  { method: "POST", path: "/v1beta/models/{id}:asyncBatchEmbedContent", handle: createGoogleBatch },
  { method: "GET", path: "/v1beta/batches", handle: listGoogleBatches },
  { method: "GET", path: GOOGLE_BATCH, handle: fetchGoogleBatch },
  { method: "DELETE", path: GOOGLE_BATCH, handle: deleteGoogleBatch },
  { method: "POST", path: `${GOOGLE_BATCH}:cancel`, mayBeEmpty: true, handle: cancelGoogleBatch },
  { method: "POST", path: "/upload/v1beta/files", takesBytes: true, handle: uploadFile },
  { method: "GET", path: "/v1beta/files", handle: listGoogleFiles },
  { method: "GET", path: GOOGLE_FILE, handle: fetchGoogleFile },
  { method: "DELETE", path: GOOGLE_FILE, handle: deleteGoogleFile },
  { method: "GET", path: `${GOOGLE_FILE}:download`, handle: downloadGoogleFile },
  { method: "GET", path: `/download${GOOGLE_FILE}:download`, handle: downloadGoogleFile },
];

/** Returns whose errors and headers the responses for a path have, even for an unknown path. `client` is the API that the client shows to speak. */
export function classifyPath(
  path: string,
  { basePath, vendor, messagesVendor }: Profile,
  client: Api | null,
): Vendor {
  if (client === "messages" && isShared(path, basePath)) return messagesVendor;
  if (isLikeBedrock(path)) return "bedrock";
  const google = googleRoute(path, basePath, client);
  if (google !== null) return google.toLowerCase().endsWith("rawpredict") ? messagesVendor : "google";
  return path.startsWith(`${basePath}/messages`) ? messagesVendor : vendor;
}

/** True for the paths that OpenAI and Anthropic share: files, and a model by its name. */
function isShared(path: string, basePath: string): boolean {
  return path === `${basePath}/files` || /^\/(?:files|models)\//.test(path.slice(basePath.length));
}

/** Returns the route of a request. @throws ApiError 404 for an unknown path, 405 with `allow` for a wrong method */
export function findRoute(
  method: string,
  path: string,
  { basePath, routes }: Profile,
  client: Api | null,
): Route {
  const own = path.startsWith(`${basePath}/`) ? nameRoute(path.slice(basePath.length), routes) : null;
  const asked = readBedrockPath(path)?.action;
  const named = asked === undefined ? googleRoute(path, basePath, client) : bedrockRoute(asked);
  const routePath = named ?? own;
  const scheme = routePath === null ? undefined : routes[routePath];
  const handlers = HANDLERS.filter((candidate) => candidate.path === routePath);
  if (handlers.length === 0 || scheme === undefined)
    throw new ApiError(404, `Invalid URL (${method} ${path})`);
  const handler = handlers.find((candidate) => candidate.method === method);
  if (handler !== undefined) return { ...handler, scheme };
  const allowed = handlers.map((candidate) => candidate.method).join(", ");
  throw new ApiError(405, `${path} accepts ${allowed}, not ${method}`, {
    code: "method_not_supported",
    headers: { allow: allowed },
  });
}

/**
 * Returns the path of Google's route; null for any other path. What it shares with the other APIs, such as `/v1/models`, is theirs unless the
 * client speaks Google's.
 */
function googleRoute(path: string, basePath: string, client: Api | null): string | null {
  if (readLivePath(path) !== null) return LIVE_ROUTE;
  const read = readGooglePath(path);
  if (read === null) return null;
  const isOwn = client === "gemini" || read.named?.action != null || read.route === GOOGLE_COUNT;
  return path.startsWith(`${basePath}/`) && !isOwn ? null : read.route;
}

/** Returns the path of a route with `{id}` in place of an id. The id of a model may have slashes. */
function nameRoute(relative: string, routes: Profile["routes"]): string {
  if (Object.hasOwn(routes, relative)) return relative;
  const [, batch, below = ""] = /^\/messages\/batches\/([^/]+)(\/.*)?$/.exec(relative) ?? [];
  if (batch !== undefined) return MESSAGE_BATCH + below;
  const [family = "", id = "", ...rest] = relative.slice(1).split("/");
  if (id === "") return relative;
  return family === "models" ? "/models/{id}" : `/${[family, "{id}", ...rest].join("/")}`;
}
