import { isListening } from "../../adapters/port-holder.ts";
import { isLoopbackHost } from "../../core/config/base-url.ts";
import type { Upstream } from "../../core/config/config.ts";

/** What the configuration says about an upstream that is being set up. */
export interface Service {
  baseUrl: string;
  /** null where each route carries the key in its own way. */
  auth: Upstream["auth"];
}

/** A service whose base URL everyone types the same. */
interface KnownService extends Service {
  title: string;
}

/**
 * How each wants its key: Anthropic on all routes in x-api-key (https://docs.anthropic.com/en/api/overview), OpenAI and
 * OpenRouter on all as a bearer token (https://platform.openai.com/docs/api-reference/authentication,
 * https://openrouter.ai/docs/api-reference/authentication).
 */
export const KNOWN_SERVICES: readonly KnownService[] = [
  { title: "Anthropic", baseUrl: "https://api.anthropic.com/v1", auth: "x-api-key" },
  { title: "OpenAI", baseUrl: "https://api.openai.com/v1", auth: "bearer" },
  { title: "OpenRouter", baseUrl: "https://openrouter.ai/api/v1", auth: "bearer" },
];

/** Azure OpenAI's v1 API takes its key in `api-key`, at a host for each resource (https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle). */
const AZURE_HOST = ".openai.azure.com";

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

/** Resolves to the base URL of the first model server that listens on this machine; of Ollama when none does. */
export async function findLocalBaseUrl(): Promise<{ baseUrl: string; title: string | null }> {
  for (const { title, port } of LOCAL_SERVERS) {
    if (await isListening(port, "127.0.0.1")) return { baseUrl: localBaseUrl(port), title };
  }
  return { baseUrl: localBaseUrl(LOCAL_SERVERS[0]?.port ?? 0), title: null };
}

function localBaseUrl(port: number): string {
  return `http://127.0.0.1:${port}/v1`;
}

/**
 * Returns how the service at a base URL wants its key. A server on this machine takes none, unless there is one for it.
 * @param baseUrl a valid one
 */
export function serviceAt(baseUrl: string, hasKey: boolean): Service {
  const { origin, hostname } = new URL(baseUrl);
  const known = KNOWN_SERVICES.find((service) => new URL(service.baseUrl).origin === origin);
  if (hostname.endsWith(AZURE_HOST)) return { baseUrl, auth: "api-key" };
  const auth = isLoopbackHost(hostname) && !hasKey ? "none" : null;
  return { baseUrl, auth: known?.auth ?? auth };
}

/** True for a server on this machine. */
export function isLocalService(baseUrl: string): boolean {
  return isLoopbackHost(new URL(baseUrl).hostname);
}
