/** The APIs that share the list of models at `/v1/models`: Messages; Responses; Chat Completions, with completions and embeddings. */
export const SHARED_APIS = ["messages", "responses", "chat"] as const;

/** All APIs: those, Google's, which has paths and a list of its own (docs/wire.md section 12), and Amazon Bedrock's (section 14). */
export const APIS = [...SHARED_APIS, "gemini", "bedrock"] as const;

/** One of the APIs that share `/v1/models`, and the paths below `/v1`. */
export type SharedApi = (typeof SHARED_APIS)[number];

/** An API that a route speaks and an upstream serves. */
export type Api = (typeof APIS)[number];

/** What an upstream can serve, in the words of `apis`: the APIs, and what goes with them. */
export const FAMILIES = [...APIS, "images", "audio", "files"] as const;

/** A family of routes. */
export type Family = (typeof FAMILIES)[number];

/** Served only by upstreams that name them: another product with a balance of its own at some services, and another service. */
const ONLY_NAMED: readonly Family[] = ["images", "gemini", "bedrock"];

/** The families besides the APIs that an upstream has without naming them, and the APIs that they go with. */
const DEFAULT_FAMILIES: Partial<Record<Family, readonly Api[]>> = {
  audio: ["responses", "chat"],
  files: [...SHARED_APIS, "gemini"],
};

/** The methods that routes of the configuration can have. */
export const METHODS = ["GET", "POST", "DELETE"] as const;

/** What the configuration can say that the body of a POST may be: JSON, none at all, or a form with files (RFC 7578). */
export const BODIES = ["json", "empty", "multipart"] as const;

/**
 * A kind of body that a route takes. `bytes`: anything, where a header says that it is part of an upload to Google. `blob`: JSON that is sent
 * as `application/octet-stream`, as AWS's SDKs do where no type is given.
 */
export type Body = (typeof BODIES)[number] | "bytes" | "blob";

/** True for a client of the Messages API: only these send it, and on every route (docs/wire.md section 1). */
export function speaksMessages(headers: { has(name: string): boolean }): boolean {
  return headers.has("anthropic-version");
}

/** True for a client of Google's API: its SDKs and Gemini CLI send one of these with every request (docs/wire.md section 12). */
export function speaksGoogle(headers: { has(name: string): boolean }): boolean {
  return headers.has("x-goog-api-key") || headers.has("x-goog-api-client");
}

/** The headers that only Google's clients send: `x-goog-api-key`, `x-goog-api-client`, `x-goog-user-project`. */
const GOOGLES = "x-goog-";

/**
 * Returns the API that a client speaks, by the headers that only clients of that API send, and on every route; null without such a header.
 * `headers` have names in lower case.
 */
export function findShape(headers: Readonly<Record<string, unknown>>): Api | null {
  if (headers["anthropic-version"] !== undefined) return "messages";
  return Object.keys(headers).some((name) => name.startsWith(GOOGLES)) ? "gemini" : null;
}

/**
 * True when an upstream with these `apis` serves a family. null: every one but {@link ONLY_NAMED}. A list of APIs only has the families that go with them; one that names any other is complete.
 */
export function servesApi({ apis }: { apis: readonly Family[] | null }, family: Family): boolean {
  if (apis === null) return !ONLY_NAMED.includes(family);
  if (apis.includes(family)) return true;
  const isComplete = apis.some((one) => !APIS.some((api) => api === one));
  return !isComplete && DEFAULT_FAMILIES[family]?.some((api) => apis.includes(api)) === true;
}

/** True for an upstream that has only paths of its own, as Google and Bedrock have: none of those below `/v1`. */
export function servesNoShared({ apis }: { apis: readonly Family[] | null }): boolean {
  if (apis?.includes("bedrock") !== true) return servesOnlyGoogle({ apis });
  return apis.every((one) => one === "bedrock" || one === "gemini" || one === "files");
}

/** True for an upstream that has only Bedrock's paths, and so no list of models. */
export function servesOnlyBedrock({ apis }: { apis: readonly Family[] | null }): boolean {
  return apis !== null && apis.length > 0 && apis.every((one) => one === "bedrock");
}

/** True for an upstream that has Google's paths and no others. */
export function servesOnlyGoogle({ apis }: { apis: readonly Family[] | null }): boolean {
  return apis?.includes("gemini") === true && apis.every((one) => one === "gemini" || one === "files");
}
