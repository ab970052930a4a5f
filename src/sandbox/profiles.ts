import { BEDROCK_ACTIONS, bedrockRoute } from "../core/http/bedrock/model-path.ts";
import { LIVE_ROUTE } from "../core/http/gemini/live-path.ts";
import type { Vendor } from "./errors.ts";
import { DEFAULT_KEYS, type AuthScheme, type SandboxKey } from "./keys.ts";
import {
  BROKERED_MODELS,
  CLAUDE_MODELS,
  EMBEDDING_MODELS,
  GPT_MODELS,
  listForAnthropic,
  listForBoth,
  listForOllama,
  listForOpenai,
  listForOpenrouter,
  LOCAL_MODELS,
  MEDIA_MODELS,
  type ModelList,
} from "./model-lists.ts";
import type { Switches } from "./switches.ts";

/** The service that a sandbox stands for. */
export interface Profile {
  /** What precedes the paths of all routes. */
  basePath: string;
  /** The routes that exist, by path, and how each expects its key. */
  routes: Readonly<Record<string, AuthScheme>>;
  /** Whose errors and headers its responses have; those below `/messages` may differ. */
  vendor: Vendor;
  messagesVendor: Vendor;
  keys: readonly SandboxKey[];
  /** Names of the models that the keys of each group may use, by group. */
  groups: Readonly<Record<string, readonly string[]>>;
  listModels: ModelList;
  /** How it behaves unless a request asks for something else. */
  switches: Readonly<Partial<Switches>>;
}

export type ProfileName = keyof typeof PROFILES;

/** The Responses API, with what Codex asks of it. */
const RESPONSES_ROUTES = {
  "/responses": "bearer",
  "/responses/compact": "bearer",
  "/responses/input_tokens": "bearer",
  "/responses/{id}": "bearer",
  "/responses/{id}/cancel": "bearer",
  "/responses/{id}/input_items": "bearer",
  "/alpha/search": "bearer",
} as const;

const MEDIA_ROUTES = {
  "/images/generations": "bearer",
  "/images/edits": "bearer",
  "/images/variations": "bearer",
  "/audio/speech": "bearer",
  "/audio/transcriptions": "bearer",
  "/audio/translations": "bearer",
} as const;

const FILE_ROUTES = ["/files", "/files/{id}", "/files/{id}/content"] as const;

const OPENAI_STORAGE = routesWith("bearer", [
  ...FILE_ROUTES,
  "/uploads",
  "/uploads/{id}/parts",
  "/uploads/{id}/complete",
  "/uploads/{id}/cancel",
  "/batches",
  "/batches/{id}",
  "/batches/{id}/cancel",
]);

const MESSAGE_BATCHES = routesWith("x-api-key", [
  "/messages/batches",
  "/messages/batches/{id}",
  "/messages/batches/{id}/cancel",
  "/messages/batches/{id}/results",
]);

/** Google's API, but for cached contents. */
const GEMINI_ROUTES = routesWith("x-goog-api-key", [
  "/v1beta/models",
  "/v1beta/models/{id}",
  "/v1beta/models/{id}:generateContent",
  "/v1beta/models/{id}:streamGenerateContent",
  "/v1beta/models/{id}:countTokens",
  "/v1beta/models/{id}:embedContent",
  "/v1beta/models/{id}:batchEmbedContents",
  "/v1beta/models/{id}:predict",
  "/v1beta/models/{id}:predictLongRunning",
  "/v1beta/operations/{id}",
  "/v1beta/interactions",
  "/v1beta/interactions/{id}",
  "/v1beta/interactions/{id}/cancel",
  "/v1beta/models/{id}:batchGenerateContent",
  "/v1beta/models/{id}:asyncBatchEmbedContent",
  "/v1beta/batches",
  "/v1beta/batches/{id}",
  "/v1beta/batches/{id}:cancel",
  "/upload/v1beta/files",
  "/v1beta/files",
  "/v1beta/files/{id}",
  "/v1beta/files/{id}:download",
  "/download/v1beta/files/{id}:download",
  LIVE_ROUTE,
]);

/** Claude at Vertex. */
const VERTEX_ROUTES = routesWith("bearer", [
  "/v1beta/models/{id}:rawPredict",
  "/v1beta/models/{id}:streamRawPredict",
  "/v1beta/models/count-tokens:rawPredict",
]);

/** Amazon Bedrock, with an API key. */
const BEDROCK_ROUTES = routesWith("bearer", BEDROCK_ACTIONS.map(bedrockRoute));

/** Everything at once, for trying tollkeeper with any tool and one upstream. */
export const GENERAL_PROFILE: Profile = {
  basePath: "/v1",
  routes: {
    "/models": "bearer",
    "/models/{id}": "bearer",
    ...RESPONSES_ROUTES,
    "/messages": "x-api-key",
    "/messages/count_tokens": "x-api-key",
    "/chat/completions": "bearer",
    "/completions": "bearer",
    "/embeddings": "bearer",
    "/moderations": "bearer",
    "/rerank": "bearer",
    ...MEDIA_ROUTES,
    ...OPENAI_STORAGE,
    ...MESSAGE_BATCHES,
    ...GEMINI_ROUTES,
    ...VERTEX_ROUTES,
    ...BEDROCK_ROUTES,
  },
  vendor: "openai",
  messagesVendor: "anthropic",
  keys: DEFAULT_KEYS,
  groups: {
    all: [...CLAUDE_MODELS, ...GPT_MODELS, ...EMBEDDING_MODELS, ...MEDIA_MODELS],
    claude: CLAUDE_MODELS,
    gpt: [...GPT_MODELS, ...EMBEDDING_MODELS, ...MEDIA_MODELS],
  },
  listModels: listForBoth,
  switches: {},
};

/** The services that `tollkeeper sandbox --profile` stands for. */
export const PROFILES = {
  anthropic: {
    basePath: "/v1",
    routes: {
      "/models": "x-api-key",
      "/models/{id}": "x-api-key",
      "/messages": "x-api-key",
      "/messages/count_tokens": "x-api-key",
      ...routesWith("x-api-key", FILE_ROUTES),
      ...MESSAGE_BATCHES,
    },
    vendor: "anthropic",
    messagesVendor: "anthropic",
    keys: [keyFor("anthropic")],
    groups: { all: CLAUDE_MODELS },
    listModels: listForAnthropic,
    switches: {},
  },
  openai: {
    basePath: "/v1",
    routes: {
      "/models": "bearer",
      "/models/{id}": "bearer",
      ...RESPONSES_ROUTES,
      "/chat/completions": "bearer",
      "/completions": "bearer",
      "/embeddings": "bearer",
      "/moderations": "bearer",
      ...MEDIA_ROUTES,
      ...OPENAI_STORAGE,
    },
    vendor: "openai",
    messagesVendor: "openai",
    keys: [keyFor("openai")],
    groups: { all: [...GPT_MODELS, ...EMBEDDING_MODELS, ...MEDIA_MODELS] },
    listModels: listForOpenai,
    switches: {},
  },
  openrouter: {
    basePath: "/api/v1",
    // Its list of models is public, and its Messages API expects a bearer token (OpenRouter's documentation).
    routes: {
      "/models": "none",
      "/responses": "bearer",
      "/messages": "bearer",
      "/chat/completions": "bearer",
      "/completions": "bearer",
      "/embeddings": "bearer",
    },
    vendor: "openrouter",
    messagesVendor: "anthropic",
    keys: [keyFor("openrouter")],
    groups: { all: BROKERED_MODELS },
    listModels: listForOpenrouter,
    switches: { usage: "finish", comments: true },
  },
  ollama: {
    basePath: "/v1",
    routes: { "/models": "none", "/chat/completions": "none", "/completions": "none", "/embeddings": "none" },
    vendor: "ollama",
    messagesVendor: "ollama",
    keys: [],
    groups: { all: LOCAL_MODELS },
    listModels: listForOllama,
    switches: { usage: "bare" },
  },
} satisfies Record<string, Profile>;

export const PROFILE_NAMES = Object.keys(PROFILES) as ProfileName[];

function keyFor(profile: string): SandboxKey {
  return { name: "default", secret: `sk-sandbox-${profile}`, group: "all" };
}

function routesWith(scheme: AuthScheme, paths: readonly string[]): Record<string, AuthScheme> {
  return Object.fromEntries(paths.map((path) => [path, scheme]));
}
