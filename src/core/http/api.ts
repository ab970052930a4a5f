/** The APIs: Messages; Responses; Chat Completions, with completions and embeddings. */
export const APIS = ["messages", "responses", "chat"] as const;

/** An API that a route speaks and an upstream serves. */
export type Api = (typeof APIS)[number];

/** What an upstream can serve, in the words of `apis`: the APIs, and what goes with them. */
export const FAMILIES = [...APIS, "images", "audio"] as const;

/** A family of routes. */
export type Family = (typeof FAMILIES)[number];

/** The families besides the APIs that an upstream has without naming them, and the APIs that they go with. */
const DEFAULT_FAMILIES: Partial<Record<Family, readonly Api[]>> = { audio: ["responses", "chat"] };

/** The methods of routes. */
export const METHODS = ["GET", "POST", "DELETE"] as const;

/** What the body of a POST may be: JSON, none at all, or a form with files (RFC 7578). */
export const BODIES = ["json", "empty", "multipart"] as const;

/** A kind of body that a route takes. */
export type Body = (typeof BODIES)[number];

/** True for a client of the Messages API: only these send it, and on every route (docs/wire.md section 1). */
export function speaksMessages(headers: { has(name: string): boolean }): boolean {
  return headers.has("anthropic-version");
}

/** The APIs in whose shape errors of ours are written: besides the others Google's, of which only the shape of errors is known here. */
export type ErrorShape = Api | "gemini";

/** Google's headers, which its SDKs and Gemini CLI send with every request: `x-goog-api-key`, `x-goog-api-client`. */
const GOOGLES = "x-goog-";

/**
 * Returns the API that a client speaks, by the headers that only clients of that API send, and on every route; null without such a header.
 * `headers` have names in lower case.
 */
export function findShape(headers: Readonly<Record<string, unknown>>): ErrorShape | null {
  if (headers["anthropic-version"] !== undefined) return "messages";
  return Object.keys(headers).some((name) => name.startsWith(GOOGLES)) ? "gemini" : null;
}

/**
 * True when an upstream with these `apis` serves a family. null: every one but images, which is another product with a balance of its own
 * at some services. A list of APIs only has the families that go with them; one that names any other is complete.
 */
export function servesApi({ apis }: { apis: readonly Family[] | null }, family: Family): boolean {
  if (apis === null) return family !== "images";
  if (apis.includes(family)) return true;
  const isComplete = apis.some((one) => !APIS.some((api) => api === one));
  return !isComplete && DEFAULT_FAMILIES[family]?.some((api) => apis.includes(api)) === true;
}
