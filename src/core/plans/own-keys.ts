import type { Api } from "../http/api.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import { isPlaceholder } from "../secrets/known-form.ts";
import { findPlanOf } from "./plans.ts";

// A tool's own key, at an upstream with `"credential": "client"` (docs/upstreams.md). Nothing else may pass there.

/** The key that a tool sent, or why it is not one that may pass. A fault never shows a credential. */
type OwnKey = { key: string; fault: null } | { key: null; fault: string };

const CARRIERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"] as const;

type Carrier = (typeof CARRIERS)[number];

/** In which headers clients of an API send a key (docs/wire.md sections 2 and 12). Azure takes `api-key` for all that it serves. */
const CARRIERS_OF: Readonly<Record<Api, readonly Carrier[]>> = {
  messages: ["authorization", "x-api-key", "api-key"],
  responses: ["authorization", "api-key"],
  chat: ["authorization", "api-key"],
  gemini: ["authorization", "x-goog-api-key"],
  bedrock: ["authorization"],
};

/** On routes that several APIs share. */
const SHARED_CARRIERS = ["authorization", "x-api-key", "api-key"] as const;

/** As for `Secret`: what is shorter could not be told from ordinary text, and so not be kept out of records. */
const MIN_LENGTH = 8;

/** Logins of Claude, and what renews them. */
const CLAUDE_LOGIN = /^sk-ant-o[ar]t/i;

/** Reads the key of a tool's own from a request for a route of this API; null for a route that several share. */
export function readOwnKey(headers: HeaderIndex, api: Api | null): OwnKey {
  const sent = CARRIERS.filter((name) => headers.has(name));
  const allowed: readonly Carrier[] = api === null ? SHARED_CARRIERS : CARRIERS_OF[api];
  if (sent.length === 0) return fault("the request has no key");
  if (findPlanOf(headers) !== null || headers.has("chatgpt-account-id"))
    return fault("the request has the login of a plan");
  const other = sent.find((name) => !allowed.includes(name));
  if (other !== undefined)
    return fault(`the key is in ${other}, and this API has it in ${allowed.join(" or ")}`);
  const keys = new Set(sent.map((name) => readCarrier(name, headers)));
  const [key = null] = keys;
  if (keys.size > 1 || sent.some((name) => headers.repeated.includes(name)))
    return fault("the request has two credentials");
  if (key === null) return fault("what the request has is no Bearer token");
  if (CLAUDE_LOGIN.test(key) || isLoginOfChatgpt(key)) return fault("the request has the login of a plan");
  if (key.length < MIN_LENGTH || isPlaceholder(key))
    return fault("what the request has is a placeholder or a local token");
  return { key, fault: null };
}

/** Lists what a request has in the headers that carry keys, whether or not it may pass. */
export function listOwnKeys(headers: HeaderIndex): string[] {
  return CARRIERS.flatMap((name) => (headers.has(name) ? (readCarrier(name, headers) ?? []) : []));
}

/** Returns the headers that carry a tool's own key, as they came: a flat list. Only for a request in which {@link readOwnKey} finds no fault. */
export function listOwnKeyHeaders(headers: HeaderIndex): string[] {
  return headers.lines.flatMap(({ policy, rawName, value }) =>
    CARRIERS.some((name) => name === policy.name) ? [rawName, value] : [],
  );
}

function fault(text: string): OwnKey {
  return { key: null, fault: text };
}

/** Returns what a header carries; null for another scheme than Bearer, and for what no key looks like. */
function readCarrier(name: Carrier, headers: HeaderIndex): string | null {
  const value = headers.get(name) ?? "";
  return (name === "authorization" ? /^Bearer +(\S+)$/i : /^(\S+)$/).exec(value)?.[1] ?? null;
}

/** How the issuer of a ChatGPT login names itself, and what it says of the account, in the token. */
const OF_CHATGPT = /https:\/\/(?:auth\.openai\.com|api\.openai\.com\/auth)/;

/** True for the token of a ChatGPT login, also without its account. Other services have such tokens as keys. */
function isLoginOfChatgpt(key: string): boolean {
  const payload = /^eyJ[\w-]*\.([\w-]+)\.[\w-]*$/.exec(key)?.[1];
  return payload !== undefined && OF_CHATGPT.test(Buffer.from(payload, "base64url").toString());
}
