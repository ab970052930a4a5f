import type { ServerResponse } from "node:http";
import type { ServiceLimit, ServiceRequest, ServiceScript } from "./plan-services.ts";

const FIRST = "sk-ant-oat01-made-up-first-4711";
const SECOND = "sk-ant-oat01-made-up-second-4712";

const SCOPES = ["user:inference", "user:profile", "user:sessions:claude_code"];

/** How the service treats Claude Code. */
export interface AnthropicOptions {
  /** The tools that it calls, one a response, before it says `done`: each with its input. */
  calls?: readonly { name: string; input: object }[];
  /** The first token is no longer valid. */
  isExpired?: boolean;
  /** The plan is used up. */
  limit?: ServiceLimit;
  /** When the window resets, which each response says. */
  resetsInSeconds?: number;
}

/** A made-up login with Claude, as `/login` saves it. No service has issued it. */
export function claudeLogin(): Record<string, string> {
  const claudeAiOauth = {
    accessToken: FIRST,
    refreshToken: "sk-ant-ort01-made-up-4711",
    expiresAt: Date.now() + 86_400_000,
    scopes: SCOPES,
    subscriptionType: "max",
  };
  return { ".claude/.credentials.json": JSON.stringify({ claudeAiOauth }) };
}

/** True for a request with the token that a refresh gave. */
export function hasRefreshedToken({ headers }: ServiceRequest): boolean {
  return headers.authorization === `Bearer ${SECOND}`;
}

/** True for what Claude Code asks its base URL: this goes through tollkeeper, and all else does not. */
export function isForProvider({ host, url }: ServiceRequest): boolean {
  return host === "api.anthropic.com" && url.startsWith("/v1/messages");
}

/** Returns a script for the services that Claude Code asks with a saved login. */
export function anthropicService({
  calls = [],
  isExpired = false,
  limit,
  resetsInSeconds = 600,
}: AnthropicOptions): ServiceScript {
  let [made, responses] = [0, 0];
  return {
    respond(seen, res) {
      if (seen.host === "platform.claude.com") sendJson(res, 200, REFRESHED);
      else if (seen.method !== "POST" || !isForProvider(seen)) sendJson(res, 404, notFound());
      else if (isExpired && !hasRefreshedToken(seen)) sendJson(res, 401, EXPIRED);
      else if (limit !== undefined) sendJson(res, 429, limit.body, limit.headers);
      else if (seen.url.includes("count_tokens")) sendJson(res, 200, { input_tokens: 10 });
      else {
        const { tools } = JSON.parse(seen.body.toString()) as { tools?: { name: string }[] };
        const call = calls[made];
        const isCall = call !== undefined && tools?.some(({ name }) => name === call.name) === true;
        if (isCall) made += 1;
        responses += 1;
        sendMessage(res, responses, isCall ? call : null, limitHeaders(resetsInSeconds));
      }
    },
    refuse: () => "HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    message() {},
  };
}

const REFRESHED = {
  token_type: "Bearer",
  access_token: SECOND,
  refresh_token: "sk-ant-ort01-made-up-4712",
  expires_in: 86_400,
  scope: SCOPES.join(" "),
};

const EXPIRED = {
  type: "error",
  error: { type: "authentication_error", message: "OAuth token has expired." },
};

function notFound(): object {
  return { type: "error", error: { type: "not_found_error", message: "there is no such path" } };
}

/** A plan's windows, as they come with each response. */
function limitHeaders(resetsInSeconds: number): Record<string, string> {
  return {
    "anthropic-ratelimit-unified-status": "allowed",
    "anthropic-ratelimit-unified-5h-status": "allowed",
    "anthropic-ratelimit-unified-5h-utilization": "0.62",
    "anthropic-ratelimit-unified-5h-reset": String(Math.floor(Date.now() / 1000) + resetsInSeconds),
  };
}

function sendMessage(
  res: ServerResponse,
  number: number,
  call: { name: string; input: object } | null,
  limits: Record<string, string>,
): void {
  const usage = { input_tokens: 1_000 + number, output_tokens: 1 };
  const message = {
    id: `msg_${number}`,
    type: "message",
    role: "assistant",
    model: "claude-made-up",
    content: [],
  };
  const block =
    call === null
      ? { type: "text", text: "" }
      : { type: "tool_use", id: `toolu_${number}`, name: call.name, input: {} };
  const delta =
    call === null
      ? { type: "text_delta", text: "done" }
      : { type: "input_json_delta", partial_json: JSON.stringify(call.input) };
  const stop = { stop_reason: call === null ? "end_turn" : "tool_use", stop_sequence: null };
  res.writeHead(200, { "content-type": "text/event-stream", ...limits });
  for (const event of [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage: { output_tokens: number } },
    { type: "message_stop" },
  ])
    res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
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
