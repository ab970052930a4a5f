import type { JsonObject } from "../../../core/json.ts";
import type { AuthScheme } from "../../../sandbox/keys.ts";
import type { Profile } from "../../../sandbox/profiles.ts";

const MESSAGES = [{ role: "user", content: "hello" }];

/** A body for each route that takes one, without its model. */
const BODIES: Readonly<Record<string, JsonObject>> = {
  "/responses": { stream: true, input: "hello" },
  "/messages": { max_tokens: 64, stream: true, messages: MESSAGES },
  "/messages/count_tokens": { messages: MESSAGES },
  "/chat/completions": { stream: true, stream_options: { include_usage: true }, messages: MESSAGES },
  "/completions": { prompt: "hello" },
  "/embeddings": { input: "hello" },
};

/** Google's path names the model, and has its version in place of the base URL's. */
const GOOGLE_PATH = "/v1beta/models/{id}:generateContent";
const GOOGLE_BODY = { contents: [{ parts: [{ text: "hello" }] }] };
const GOOGLE_MODEL = "gemini-2.5-flash";

/** The model to show in a sample of each route. Where a sandbox has none like it, its first one is shown. */
const MODELS: Readonly<Record<string, RegExp>> = {
  "/messages": /claude-sonnet-5$/,
  "/messages/count_tokens": /claude-sonnet-5$/,
  "/embeddings": /embed/,
};
const TEXT_MODEL = /gpt-5$/;

/**
 * Returns a curl command for each route of a sandbox that can be tried with one.
 * @param baseUrl where it is reached: at its own address, or through the daemon
 * @param secret a key to send; null where none is needed
 */
export function sampleRequests(baseUrl: string, profile: Profile, secret: string | null): string[] {
  return Object.entries(profile.routes)
    .filter(([path]) => path in BODIES || path === "/models" || path === GOOGLE_PATH)
    .map(([path, scheme]) => {
      const body = composeBody(path, profile);
      const isStream = body?.["stream"] === true;
      const json =
        body === null ? [] : ["-H 'content-type: application/json'", `-d '${JSON.stringify(body)}'`];
      const words = ["curl", ...(isStream ? ["-N"] : []), urlOf(path, baseUrl)];
      return [...words, ...(secret === null ? [] : credential(scheme, secret)), ...json].join(" ");
    });
}

function urlOf(path: string, baseUrl: string): string {
  return path === GOOGLE_PATH ? new URL(baseUrl).origin + path.replace("{id}", GOOGLE_MODEL) : baseUrl + path;
}

/** Returns null for a route that takes no body. */
function composeBody(path: string, { groups }: Profile): JsonObject | null {
  if (path === GOOGLE_PATH) return GOOGLE_BODY;
  const body = BODIES[path];
  if (body === undefined) return null;
  const models = groups["all"] ?? [];
  const pattern = MODELS[path] ?? TEXT_MODEL;
  return { model: models.find((name) => pattern.test(name)) ?? models[0], ...body };
}

function credential(scheme: AuthScheme, secret: string): string[] {
  if (scheme === "none") return [];
  if (scheme === "bearer") return [`-H 'authorization: Bearer ${secret}'`];
  if (scheme === "x-goog-api-key") return [`-H 'x-goog-api-key: ${secret}'`];
  return [`-H 'x-api-key: ${secret}'`, "-H 'anthropic-version: 2023-06-01'"];
}
