import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { MESSAGE, SSE } from "../helpers/upstream/scripted-upstream.ts";
import { makeSentinel } from "../security/leak-search.ts";

/** The text of prompts and of responses, recognisable anywhere. */
export const PROMPT = makeSentinel();
export const RESPONSE_TEXT = makeSentinel();
const JSON_TYPE = { "content-type": "application/json" };
const BROKEN_UTF8 = Buffer.from([0xc3, 0x28, 0xff, 0xed, 0xa0, 0x80]);

/** A request with the prompt in every place where requests have text. */
export const REQUEST = {
  model: "m",
  max_tokens: 1,
  system: PROMPT,
  instructions: PROMPT,
  input: [{ role: "user", model: PROMPT, content: [{ type: "input_text", text: PROMPT }] }],
  messages: [{ role: "user", content: PROMPT }],
  stop_sequences: [PROMPT],
  tools: [{ name: PROMPT, description: PROMPT }],
  metadata: { user_id: PROMPT, model: PROMPT },
};

/** Request bodies in all forms. */
export const BODIES: [what: string, fields: string, body: Buffer][] = [
  ["JSON", "", json(REQUEST)],
  ["JSON in gzip", "Content-Encoding: gzip\r\n", gzipSync(json(REQUEST))],
  ["gzip labelled as JSON", "", gzipSync(json(REQUEST))],
  ["JSON labelled as gzip", "Content-Encoding: gzip\r\n", json(REQUEST)],
  ["a text", "", Buffer.from(PROMPT)],
  ["a JSON string", "", json(PROMPT)],
  ["truncated JSON", "", json(REQUEST).subarray(0, -2)],
  ["JSON truncated within a name", "", Buffer.from(`{"${PROMPT}`)],
  ["JSON with the prompt as a name", "", json({ [PROMPT]: { [PROMPT]: 1 }, model: { [PROMPT]: PROMPT } })],
  ["broken UTF-8", "", Buffer.concat([Buffer.from(`{"input":"`), BROKEN_UTF8, Buffer.from(`${PROMPT}"}`)])],
  ["too large a body", "Expect: 100-continue\r\n", json({ ...REQUEST, pad: "x".repeat(20_000) })],
];

/** Content with the response text in every place: text, thinking, tool calls. */
const CONTENT = [
  { type: "text", text: RESPONSE_TEXT },
  { type: "thinking", thinking: RESPONSE_TEXT, signature: RESPONSE_TEXT },
  { type: "tool_use", id: "t", name: RESPONSE_TEXT, input: { command: RESPONSE_TEXT } },
];
const WHOLE = { ...MESSAGE, content: CONTENT, stop_reason: "stop_sequence", stop_sequence: PROMPT };
const FAILURE = {
  type: "error",
  error: { type: "e", code: "c", message: `${PROMPT} ${RESPONSE_TEXT}`, param: RESPONSE_TEXT },
};

/** A gateway may quote prompt and response where providers have names and codes. */
const QUOTED = `you asked: ${PROMPT}, I said: ${RESPONSE_TEXT}`;
const SENTENCES = {
  ...WHOLE,
  stop_reason: QUOTED,
  status: "incomplete",
  incomplete_details: { reason: QUOTED },
  service_tier: QUOTED,
  diagnostics: { cache_miss_reason: { type: QUOTED, cache_missed_input_tokens: 5 } },
  prompt_cache_diagnostics: { type: "cache_miss", reason: QUOTED, cache_missed_tokens: 5 },
  usage: {
    ...MESSAGE.usage,
    note: QUOTED,
    [QUOTED]: 1,
    details: [{ text: QUOTED }],
    service_tier: QUOTED,
    speed: QUOTED,
    iterations: [{ type: QUOTED, model: QUOTED, input_tokens: 1 }],
    server_tool_use: { [QUOTED]: 1 },
  },
  tool_usage: { [QUOTED]: { num_requests: 1, input_tokens: 1 } },
};

const START = { type: "message_start", message: { ...WHOLE, stop_reason: null } };
const DELTAS = [
  START,
  { type: "content_block_start", index: 0, content_block: CONTENT[2] },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: RESPONSE_TEXT } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: RESPONSE_TEXT } },
  { type: "message_delta", delta: { stop_reason: "stop_sequence", stop_sequence: RESPONSE_TEXT }, usage: {} },
];

/** Responses of the upstream in all forms. */
export const RESPONSES: [what: string, send: (res: ServerResponse) => void][] = [
  ["a message", (res) => send(res, json(WHOLE))],
  ["a message in gzip", (res) => send(res, gzipSync(json(WHOLE)), { "content-encoding": "gzip" })],
  ["a message in brotli", (res) => send(res, brotliCompressSync(json(WHOLE)), { "content-encoding": "br" })],
  ["a message labelled as gzip", (res) => send(res, json(WHOLE), { "content-encoding": "gzip" })],
  ["a truncated message", (res) => res.writeHead(200, JSON_TYPE).write(json(WHOLE), () => res.destroy())],
  ["a message that quotes it in its usage", (res) => send(res, json(SENTENCES))],
  [
    "a stream that quotes it in its usage",
    (res) => res.writeHead(200, SSE).end(sse([START, { ...SENTENCES, type: "message_delta" }])),
  ],
  ["an error", (res) => send(res, json(FAILURE), {}, 400)],
  ["an error that quotes it in its type", (res) => send(res, json({ error: { type: QUOTED } }), {}, 400)],
  ["an error that quotes it in its code", (res) => send(res, json({ code: QUOTED }), {}, 400)],
  ["an error in gzip", (res) => send(res, gzipSync(json(FAILURE)), { "content-encoding": "gzip" }, 400)],
  [
    "an error that is a string",
    (res) => send(res, json({ error: RESPONSE_TEXT, message: PROMPT, detail: [PROMPT] }), {}, 500),
  ],
  [
    "an HTML page",
    (res) => send(res, Buffer.from(`<html>${RESPONSE_TEXT}`), { "content-type": "text/html" }, 502),
  ],
  [
    "odd JSON",
    (res) =>
      send(
        res,
        json({ usage: RESPONSE_TEXT, model: [RESPONSE_TEXT], id: { RESPONSE_TEXT }, content: RESPONSE_TEXT }),
      ),
  ],
  ["broken UTF-8", (res) => send(res, Buffer.concat([BROKEN_UTF8, json(WHOLE), BROKEN_UTF8]))],
  ["a stream", (res) => res.writeHead(200, SSE).end(sse(DELTAS))],
  ["a stream in small chunks", (res) => sendInChunks(res, sse(DELTAS))],
  ["a stream with an error", (res) => res.writeHead(200, SSE).end(sse([...DELTAS.slice(0, 2), FAILURE]))],
  [
    "a truncated stream",
    (res) => res.writeHead(200, SSE).write(sse(DELTAS).slice(0, -40), () => res.destroy()),
  ],
  [
    "a stream of odd lines",
    (res) =>
      res.writeHead(200, SSE).end(`${RESPONSE_TEXT}\ndata: ${RESPONSE_TEXT}\n\nevent: ${RESPONSE_TEXT}\n\n`),
  ],
  ["bytes that are not HTTP", (res) => res.socket?.end(`${RESPONSE_TEXT}\r\n\r\n`)],
];

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sse(events: { type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function send(res: ServerResponse, body: Buffer, headers: Record<string, string> = {}, status = 200): void {
  res.writeHead(status, { ...JSON_TYPE, ...headers }).end(body);
}

function sendInChunks(res: ServerResponse, text: string): void {
  res.writeHead(200, SSE);
  for (let at = 0; at < text.length; at += 50) res.write(text.slice(at, at + 50));
  res.end();
}
