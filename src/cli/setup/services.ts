import { isListening } from "../../adapters/port-holder.ts";
import { isLoopbackHost } from "../../core/config/base-url.ts";
import { regionOfHost } from "../../core/config/aws-region.ts";
import type { Upstream } from "../../core/config/config.ts";

/** What the configuration says about an upstream that is being set up. */
export interface Service {
  baseUrl: string;
  /** null where each route carries the key in its own way. */
  auth: Upstream["auth"];
  /** null where it serves all of them. */
  apis: Upstream["apis"];
  /** null where it has no WebSocket, or it is not known to have one. */
  websocket: "auto" | null;
  /** The command that prints access keys, which sign each request; absent where the key is in the keychain. */
  signWith?: readonly string[];
}

/** A service whose base URL everyone types the same. */
interface KnownService extends Service {
  title: string;
}

/**
 * How each wants its key, and the APIs that each serves: Anthropic (https://docs.anthropic.com/en/api/overview), OpenAI
 * (https://platform.openai.com/docs/api-reference/authentication), OpenRouter
 * (https://openrouter.ai/docs/api-reference/authentication), and Google: Gemini's OpenAI-compatible endpoint
 * (https://ai.google.dev/gemini-api/docs/openai) and its own API (https://ai.google.dev/api). OpenAI has WebSockets (https://developers.openai.com/api/docs/guides/websocket-mode), and so has Google's own API (https://ai.google.dev/api/live).
 */
export const KNOWN_SERVICES: readonly KnownService[] = [
  {
    title: "Anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    auth: "x-api-key",
    apis: ["messages"],
    websocket: null,
  },
  {
    title: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    auth: "bearer",
    apis: ["responses", "chat", "images", "audio", "files"],
    websocket: "auto",
  },
  {
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    auth: "bearer",
    apis: null,
    websocket: null,
  },
  {
    title: "Gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    auth: "bearer",
    apis: ["chat"],
    websocket: null,
  },
  {
    title: "Google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    auth: null,
    apis: ["gemini"],
    websocket: "auto",
  },
];

/**
 * Azure OpenAI's v1 API, at a host for each resource (https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle).
 * Below other paths of the second host are the APIs of other vendors.
 */
const AZURE = /^https:\/\/[^/]+\.(?:openai\.azure\.com|services\.ai\.azure\.com\/openai)(?:\/|$)/;

/**
 * Vertex AI, at a host for each region or at one for all (https://cloud.google.com/vertex-ai/docs/reference/rest). It takes a token, and its
 * model stands in the path as at Google's own API.
 */
const VERTEX = /^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com(?:\/|$)/;

/** How the paths of Amazon Bedrock begin, at a host for each region (https://docs.aws.amazon.com/general/latest/gr/bedrock.html). */
const BEDROCK_PATH = /^https:\/\/[^/]+\/model$/;

/** Returns the base URL of Amazon Bedrock in a region. China has a domain of its own. */
export function bedrockBaseUrl(region: string): string {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return `https://bedrock-runtime.${region}.${domain}/model`;
}

/** True for Amazon Bedrock, where requests can be signed in place of a key. */
export function isBedrock({ baseUrl }: Pick<Service, "baseUrl">): boolean {
  return BEDROCK_PATH.test(baseUrl) && regionOfHost(baseUrl) !== null;
}

/** A model server that listens on a port of its own by default. */
interface LocalServer {
  title: string;
  port: number;
}

/**
 * In the order in which they are proposed. The ports are those of their documentation (https://docs.ollama.com/faq,
 * https://lmstudio.ai/docs/developer/core/server, https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md,
 * https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html).
 */
const LOCAL_SERVERS: readonly LocalServer[] = [
  { title: "Ollama", port: 11_434 },
  { title: "LM Studio", port: 1234 },
  { title: "llama.cpp", port: 8080 },
  { title: "vLLM", port: 8000 },
];

/** Ports that nothing of tollkeeper's should be expected on. */
export const LOCAL_SERVER_PORTS: readonly number[] = LOCAL_SERVERS.map(({ port }) => port);

/**
 * Resolves to the base URL of the model server of this name, or else of the first one that listens on this machine; of Ollama when none
 * does. `title` is that of one that was found listening.
 */
export async function findLocalBaseUrl(name: string): Promise<{ baseUrl: string; title: string | null }> {
  const named = LOCAL_SERVERS.find(({ title }) => title.toLowerCase() === name.toLowerCase());
  if (named !== undefined) return { baseUrl: localBaseUrl(named.port), title: null };
  for (const { title, port } of LOCAL_SERVERS) {
    if (await isListening(port, "127.0.0.1")) return { baseUrl: localBaseUrl(port), title };
  }
  return { baseUrl: localBaseUrl(LOCAL_SERVERS[0]?.port ?? 0), title: null };
}

function localBaseUrl(port: number): string {
  return `http://127.0.0.1:${port}/v1`;
}

/**
 * Returns what is known of the service at a base URL. A server on this machine takes no key, unless there is one for it.
 * @param baseUrl a valid one
 */
export function serviceAt(baseUrl: string, hasKey: boolean): Service {
  const { origin, hostname } = new URL(baseUrl);
  if (AZURE.test(baseUrl)) return { baseUrl, auth: "api-key", apis: ["responses", "chat"], websocket: null };
  if (VERTEX.test(baseUrl)) return { baseUrl, auth: "bearer", apis: ["gemini"], websocket: null };
  if (isBedrock({ baseUrl })) return { baseUrl, auth: null, apis: ["bedrock"], websocket: null };
  const there = KNOWN_SERVICES.filter((service) => new URL(service.baseUrl).origin === origin);
  // Google has two APIs at one origin, of which one is below the other.
  const known = there.find((service) => baseUrl.startsWith(service.baseUrl)) ?? there[0];
  if (known !== undefined) return { baseUrl, auth: known.auth, apis: known.apis, websocket: known.websocket };
  const auth = isLoopbackHost(hostname) && !hasKey ? "none" : null;
  return { baseUrl, auth, apis: null, websocket: null };
}

/** True for a server on this machine. */
export function isLocalService(baseUrl: string): boolean {
  return isLoopbackHost(new URL(baseUrl).hostname);
}
