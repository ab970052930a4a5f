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

/** Where Ollama listens by default. */
export const LOCAL_BASE_URL = "http://127.0.0.1:11434/v1";

/**
 * Returns how the service at a base URL wants its key. A server on this machine takes none, unless there is one for it.
 * @param baseUrl a valid one
 */
export function serviceAt(baseUrl: string, hasKey: boolean): Service {
  const { origin, hostname } = new URL(baseUrl);
  const known = KNOWN_SERVICES.find((service) => new URL(service.baseUrl).origin === origin);
  const auth = isLoopbackHost(hostname) && !hasKey ? "none" : null;
  return { baseUrl, auth: known?.auth ?? auth };
}

/** True for a server on this machine. */
export function isLocalService(baseUrl: string): boolean {
  return isLoopbackHost(new URL(baseUrl).hostname);
}
