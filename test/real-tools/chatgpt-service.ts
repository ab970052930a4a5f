import type { ServerResponse } from "node:http";
import type { WebSocket } from "ws";
import { usageOf } from "../helpers/upstream/websocket-upstream.ts";
import type { ServiceLimit, ServiceRequest, ServiceScript } from "./plan-services.ts";

const ACCOUNT = "00000000-made-up-account-4711";

const RESPONSES = "/backend-api/codex/responses";

/** How the service treats Codex. */
export interface ChatgptOptions {
  /** Commands that it has run, one a response, before it says `done`. */
  calls?: number;
  /** The first of these calls starts a sub-agent. */
  hasAgent?: boolean;
  /** Without WebSockets, Codex sends POST. */
  hasWebSocket?: boolean;
  /** The first token is no longer valid. */
  isExpired?: boolean;
  /** The plan is used up. */
  limit?: ServiceLimit;
  /** When the first window resets, which each response says. */
  resetsInSeconds?: number;
}

/** A message that asks for a response, as far as the service looks at it. A sub-agent has a thread of its own. */
interface Asked {
  generate?: boolean;
  client_metadata?: { session_id?: string; thread_id?: string };
}

/** A made-up login with ChatGPT, as `codex login` saves it. No service has issued it. */
export function chatgptLogin(): Record<string, string> {
  const saved = {
    auth_mode: "chatgpt",
    OPENAI_API_KEY: null,
    tokens: {
      id_token: makeToken("id"),
      access_token: makeToken("first"),
      refresh_token: "made-up-refresh-token-4711",
      account_id: ACCOUNT,
    },
    last_refresh: new Date().toISOString(),
  };
  return { ".codex/auth.json": JSON.stringify(saved) };
}

/** A token in the form of a JSON Web Token, valid for a day. */
function makeToken(name: string): string {
  const claims = {
    exp: Math.floor(Date.now() / 1000) + 86_400,
    email: "me@example.com",
    jti: name,
    "https://api.openai.com/auth": {
      chatgpt_plan_type: "plus",
      chatgpt_account_id: ACCOUNT,
      chatgpt_user_id: "user-made-up",
    },
  };
  return [{ alg: "RS256", typ: "JWT" }, claims, "no signature"].map(encode).join(".");
}

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

/** True for a request with the token that a refresh gave. */
export function hasRefreshedToken({ headers }: ServiceRequest): boolean {
  const [, claims = ""] = (headers.authorization ?? "").split(".");
  return Buffer.from(claims, "base64url").toString().includes('"jti":"second"');
}

/** True for what Codex asks its model provider: this goes through tollkeeper, and all else does not. */
export function isForProvider({ host, url }: ServiceRequest): boolean {
  return host === "chatgpt.com" && /^\/backend-api\/codex\/(?:responses|models)/.test(url);
}

/** Returns a script for the services that Codex asks with a ChatGPT login. */
export function chatgptService(options: ChatgptOptions): ServiceScript {
  const { hasWebSocket = true, isExpired = false, limit, resetsInSeconds = 600 } = options;
  let [made, responses] = [0, 0];
  const next = ({ generate, client_metadata: { session_id: session, thread_id: thread } = {} }: Asked) => {
    responses += 1;
    if (generate === false) return eventsOf(responses, []);
    if (thread !== session || made >= (options.calls ?? 0))
      return eventsOf(responses, [messageItem(responses)]);
    made += 1;
    const isAgent = options.hasAgent === true && made === 1;
    return eventsOf(responses, [isAgent ? agentItem(responses) : callItem(responses)]);
  };
  /** The refusal of a request for a model: status, headers and body. */
  const refusalOf = (seen: ServiceRequest): [number, Record<string, string>, object] | null => {
    if (isExpired && !hasRefreshedToken(seen))
      return [401, {}, { error: { code: "token_expired", message: "the token has expired" } }];
    return limit === undefined ? null : [429, limit.headers, limit.body];
  };
  return {
    respond(seen, res) {
      const refusal = refusalOf(seen);
      if (seen.host === "auth.openai.com") sendJson(res, 200, refreshed());
      else if (seen.url.startsWith("/backend-api/wham/accounts/check")) sendJson(res, 200, ACCOUNTS);
      else if (seen.method !== "POST" || !seen.url.startsWith(RESPONSES)) sendJson(res, 404, {});
      else if (refusal === null) sendEvents(res, next({}), limitHeaders(resetsInSeconds));
      else sendJson(res, refusal[0], refusal[2], refusal[1]);
    },
    refuse(seen) {
      if (!hasWebSocket) return writeResponse(426, {}, {});
      const refusal = refusalOf(seen);
      return refusal === null ? null : writeResponse(...refusal);
    },
    message(socket: WebSocket, text: string) {
      for (const event of [limitEvent(resetsInSeconds), ...next(JSON.parse(text) as Asked)])
        socket.send(JSON.stringify(event));
    },
  };
}

/** Codex asks for it before it asks the service directly. */
const ACCOUNTS = {
  accounts: [
    {
      id: ACCOUNT,
      structure: "personal",
      workspace_backend_origin: "NO_CONSTRAINT",
      account_routing_override: "NO_CONSTRAINT",
    },
  ],
  account_ordering: [ACCOUNT],
  default_account_id: ACCOUNT,
};

function limitEvent(resetsInSeconds: number): object {
  return {
    type: "codex.rate_limits",
    plan_type: "plus",
    rate_limits: {
      allowed: true,
      limit_reached: false,
      primary: { used_percent: 62, window_minutes: 300, reset_after_seconds: resetsInSeconds },
      secondary: { used_percent: 12, window_minutes: 10_080, reset_after_seconds: 6_000 },
    },
  };
}

/** The first of these windows, as it comes with a response to POST. */
function limitHeaders(resetsInSeconds: number): Record<string, string> {
  return {
    "x-codex-primary-used-percent": "62",
    "x-codex-primary-window-minutes": "300",
    "x-codex-primary-reset-after-seconds": String(resetsInSeconds),
  };
}

function refreshed(): object {
  return {
    id_token: makeToken("id"),
    access_token: makeToken("second"),
    refresh_token: "made-up-refresh-token-4712",
  };
}

function callItem(number: number): object {
  const command = JSON.stringify({ cmd: "sleep 1; echo hello" });
  const call = { call_id: `call_${number}`, name: "exec_command", arguments: command, status: "completed" };
  return { type: "function_call", id: `fc_${number}`, ...call };
}

function agentItem(number: number): object {
  const task = JSON.stringify({ task_name: "look", message: "look around" });
  const call = {
    call_id: `call_${number}`,
    namespace: "collaboration",
    name: "spawn_agent",
    arguments: task,
  };
  return { type: "function_call", id: `fc_${number}`, status: "completed", ...call };
}

function messageItem(number: number): object {
  const content = [{ type: "output_text", text: "done", annotations: [], logprobs: [] }];
  return { type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content };
}

function eventsOf(number: number, items: readonly object[]): object[] {
  const response = {
    id: `resp_${number}`,
    object: "response",
    created_at: 1_700_000_000,
    model: "gpt-made-up",
  };
  const usage = usageOf(1_000 + number, number);
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...items.flatMap((item, at) => [
      { type: "response.output_item.added", output_index: at, item },
      { type: "response.output_item.done", output_index: at, item },
    ]),
    { type: "response.completed", response: { ...response, status: "completed", output: items, usage } },
  ];
}

function sendEvents(res: ServerResponse, events: readonly object[], limits: Record<string, string>): void {
  res.writeHead(200, { "content-type": "text/event-stream", ...limits });
  for (const event of events)
    res.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
  res.end();
}

function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

function writeResponse(status: number, headers: Record<string, string>, body: object): string {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${text}`;
}
