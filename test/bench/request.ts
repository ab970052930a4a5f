import type { ResponseName } from "./responses.ts";

/** A request of the benchmark: which response it asks for, and how large it is. */
export interface RequestShape {
  response: ResponseName;
  bodyBytes: number;
  /** Additional header lines that a gateway needs, `name: value`. */
  headers: readonly string[];
  /** What a gateway needs before the model's name. */
  modelPrefix: string;
}

/** The usual size of a request body, as in docs/performance.md. */
export const SMALL_BODY_BYTES = 2_048;

/** What the upstream searches for in a body: the model's name says which response to send. */
export const MODEL_MARK = '"model":"bench-';

/** The bytes of a request, with 16 headers as Claude Code sends them (docs/wire.md section 2). */
export function buildRequest(
  port: number,
  { response, bodyBytes, headers, modelPrefix }: RequestShape,
): Buffer {
  const body = buildBody(`${modelPrefix}bench-${response}`, response !== "json", bodyBytes);
  const lines = [
    `POST ${response === "chat" ? "/v1/chat/completions" : "/v1/messages"} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    "connection: keep-alive",
    "accept: application/json",
    "accept-encoding: gzip, deflate, br, zstd",
    "anthropic-beta: claude-code-20250219,interleaved-thinking-2025-05-14",
    "anthropic-dangerous-direct-browser-access: true",
    "anthropic-version: 2023-06-01",
    "authorization: Bearer placeholder",
    "content-type: application/json",
    "user-agent: claude-cli/2.1.329 (external, cli)",
    "x-app: cli",
    "x-claude-code-session-id: 5f1c6a1e-3b8e-4c52-9a54-0d8f3c1f7b11",
    "x-stainless-lang: js",
    "x-stainless-retry-count: 0",
    "x-stainless-runtime: node",
    ...headers,
    `content-length: ${body.length}`,
    "",
    "",
  ];
  return Buffer.from(lines.join("\r\n") + body);
}

function buildBody(model: string, stream: boolean, bytes: number): string {
  const build = (content: string) =>
    JSON.stringify({ model, max_tokens: 1024, stream, messages: [{ role: "user", content }] });
  return build(prose(bytes - build("").length));
}

/** Natural text, because a single repeated letter takes the tokenizers of gateways many times as long. */
function prose(bytes: number): string {
  return SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes);
}

const SENTENCE = "The toll keeper lifts the gate, writes a line into the book, and lets the cart pass. ";
