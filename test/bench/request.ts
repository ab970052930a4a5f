import type { AnswerName } from "./answers.ts";

/** A request of the bench: which answer it asks for, and how large it is. */
export interface RequestShape {
  answer: AnswerName;
  bodyBytes: number;
  /** Lines that a gateway wants besides, `name: value`. */
  headers: readonly string[];
  /** What a gateway wants before the model's name. */
  modelPrefix: string;
}

/** Body of a request, where its size does not matter: that of facts/performance.md. */
export const SMALL_BODY_BYTES = 2_048;

/** What the upstream looks for in a body: the model's name says which answer is wanted. */
export const MODEL_MARK = '"model":"bench-';

/** The whole request as it goes over the wire: 16 headers as Claude Code sends them (facts/clients.md section 3). */
export function buildRequest(
  port: number,
  { answer, bodyBytes, headers, modelPrefix }: RequestShape,
): Buffer {
  const body = buildBody(`${modelPrefix}bench-${answer}`, answer !== "json", bodyBytes);
  const lines = [
    "POST /v1/messages HTTP/1.1",
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

/** Text as tokenizers of gateways are made for: one letter over and over takes them many times as long. */
function prose(bytes: number): string {
  return SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes);
}

const SENTENCE = "The toll keeper lifts the gate, writes a line into the book, and lets the cart pass. ";
