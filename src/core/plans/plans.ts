import type { HeaderIndex } from "../http/header-index.ts";
import type { Route } from "../http/routes.ts";
import { PLAN_SEGMENT, planUpstream, type PLAN_TOOLS } from "./names.ts";

// The one place that says what belongs to a plan: origins, paths, and the forms of a login. docs/plans.md has the pages on which vendors say so.
// Read on 2026-11-27: code.claude.com/docs/en/llm-gateway#subscriptions-and-gateways and its page on the protocol; for Codex its source, openai/codex
// at 0.171.0 (model-provider-info, bearer_auth_provider.rs, codex-api/src/endpoint).

/** A plan of a service, and the tool that signs in to it. */
export interface Plan {
  tool: (typeof PLAN_TOOLS)[number];
  /** The address below the tool's mark that it is given as its base URL. */
  basePath: string;
  /** Of its upstream in records, which also stands where records name a key. */
  name: string;
  /** Where its requests go. Nothing changes it. */
  baseUrl: string;
  routes: readonly Route[];
  /** Whether paths without a route go to the same base, as they are. */
  passesOthers: boolean;
  /** Whether the service has the WebSocket mode of the Responses API (docs/websocket.md). */
  hasWebSocket: boolean;
  /** The headers that carry its login, which are forwarded as they came. */
  loginHeaders: readonly string[];
  /** What the login is, in words. */
  login: string;
  /** Returns what the service calls the account of a login; null where neither the request nor its response says. Not to be kept as it is. */
  findAccount(request: HeaderIndex, response: HeaderIndex | null): string | null;
  /** Returns whether the service charges for a response as use beyond the plan, and when the plan's window resets; null where it does not say. */
  findExtra(response: HeaderIndex): { isCharged: boolean; resets: string } | null;
  /** Returns the secret of the tool's own login; null for anything else. */
  findLogin(headers: HeaderIndex): string | null;
}

const JSON_ONLY = ["json"] as const;

const MESSAGES = { method: "POST", dialect: "messages", api: "messages" } as const;
const RESPONSES = { method: "POST", dialect: "responses", api: "responses" } as const;
const COMMON = { auth: "none", accepts: JSON_ONLY } as const;

/** Claude Code with the login of a Claude plan, or with what `claude setup-token` prints. */
const CLAUDE: Plan = {
  tool: "claude-code",
  basePath: PLAN_SEGMENT,
  name: planUpstream("claude"),
  baseUrl: "https://api.anthropic.com/v1",
  routes: [
    { ...COMMON, ...MESSAGES, path: "/messages", spend: "count" },
    { ...COMMON, ...MESSAGES, path: "/messages/count_tokens", spend: "never" },
  ],
  passesOthers: false,
  hasWebSocket: false,
  loginHeaders: ["authorization"],
  login: "Bearer sk-ant-oat…",
  findAccount: (_request, response) => response?.get("anthropic-organization-id") ?? null,
  findExtra(response) {
    const [isInUse, status, extra] = ["overage-in-use", "status", "overage-status"].map((name) =>
      response.get(`anthropic-ratelimit-unified-${name}`),
    );
    if (status === undefined && isInUse === undefined) return null;
    const isAllowed = extra === "allowed" || extra === "allowed_warning";
    const isCharged = isInUse === "true" || (status === "rejected" && isAllowed);
    return { isCharged, resets: response.get("anthropic-ratelimit-unified-reset") ?? "" };
  },
  findLogin: (headers) =>
    /^Bearer +(sk-ant-oat[\w-]{8,})$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null,
};

/** Codex with a ChatGPT login: a token with the header of its account, or an agent's signature. */
const CHATGPT: Plan = {
  tool: "codex",
  basePath: `${PLAN_SEGMENT}/v1`,
  name: planUpstream("chatgpt"),
  baseUrl: "https://chatgpt.com/backend-api/codex",
  routes: [
    { ...COMMON, ...RESPONSES, path: "/responses", spend: "count" },
    { ...COMMON, ...RESPONSES, path: "/responses/compact", spend: "count" },
    { ...COMMON, ...RESPONSES, path: "/alpha/search", spend: "count" },
    { ...COMMON, ...RESPONSES, path: "/images/generations", dialect: "media", spend: "count" },
    { ...COMMON, ...RESPONSES, path: "/images/edits", dialect: "media", spend: "count" },
    { ...COMMON, ...RESPONSES, method: "GET", path: "/models", dialect: "none", spend: "never" },
  ],
  passesOthers: true,
  hasWebSocket: true,
  loginHeaders: ["authorization", "chatgpt-account-id"],
  login: "the token of a ChatGPT login with chatgpt-account-id, or AgentAssertion",
  findAccount: (request) => request.get("chatgpt-account-id") ?? null,
  // It says how many credits are left, and not whether a response has used them.
  findExtra: () => null,
  findLogin(headers) {
    if (headers.repeated.includes("chatgpt-account-id")) return null;
    const authorization = headers.get("authorization") ?? "";
    const signed = /^AgentAssertion +(\S{8,})$/i.exec(authorization)?.[1];
    const token = /^Bearer +(eyJ[\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization)?.[1];
    return signed ?? (headers.has("chatgpt-account-id") ? token : null) ?? null;
  },
};

export const PLANS: readonly Plan[] = [CLAUDE, CHATGPT];

/** Returns the plan whose login a request has; null for any other. */
export function findPlanOf(headers: HeaderIndex): Plan | null {
  if (!headers.has("authorization")) return null;
  return PLANS.find((plan) => plan.findLogin(headers) !== null) ?? null;
}

/** Headers that carry a key. Beside a login, the service may charge the key. */
const KEY_HEADERS = ["x-api-key", "api-key", "x-goog-api-key"];

/** Says why a request does not have the tool's own login and nothing else; null where it has. Never shows a credential. */
export function findLoginFault(plan: Plan, headers: HeaderIndex): string | null {
  const key = KEY_HEADERS.find((name) => headers.has(name));
  if (key !== undefined) return `the request has a key, in ${key}`;
  if (!headers.has("authorization")) return "the request has no login";
  return plan.findLogin(headers) === null ? "what the request has is another credential" : null;
}
