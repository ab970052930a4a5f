import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { MESSAGE, SSE } from "../helpers/upstream/scripted-upstream.ts";
import { makeSentinel } from "../security/leak-search.ts";

/** What people say, and what they are told: each recognisable wherever it should not be. */
export const PROMPT = makeSentinel();
export const ANSWER = makeSentinel();
const JSON_TYPE = { "content-type": "application/json" };
const BROKEN_UTF8 = Buffer.from([0xc3, 0x28, 0xff, 0xed, 0xa0, 0x80]);

/** A prompt wherever requests have one. */
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

/** Requests: how their body is sent. */
export const BODIES: [what: string, fields: string, body: Buffer][] = [
  ["JSON", "", json(REQUEST)],
  ["JSON in gzip", "Content-Encoding: gzip\r\n", gzipSync(json(REQUEST))],
  ["gzip that says it is JSON", "", gzipSync(json(REQUEST))],
  ["JSON that says it is gzip", "Content-Encoding: gzip\r\n", json(REQUEST)],
  ["a text", "", Buffer.from(PROMPT)],
  ["a JSON string", "", json(PROMPT)],
  ["JSON that breaks off", "", json(REQUEST).subarray(0, -2)],
  ["JSON with a name without end", "", Buffer.from(`{"${PROMPT}`)],
  ["JSON with the prompt as a name", "", json({ [PROMPT]: { [PROMPT]: 1 }, model: { [PROMPT]: PROMPT } })],
  ["broken UTF-8", "", Buffer.concat([Buffer.from(`{"input":"`), BROKEN_UTF8, Buffer.from(`${PROMPT}"}`)])],
  ["too large a body", "Expect: 100-continue\r\n", json({ ...REQUEST, pad: "x".repeat(20_000) })],
];

/** An answer's text wherever answers have one: text, thinking, calls of tools. */
const CONTENT = [
  { type: "text", text: ANSWER },
  { type: "thinking", thinking: ANSWER, signature: ANSWER },
  { type: "tool_use", id: "t", name: ANSWER, input: { command: ANSWER } },
];
const WHOLE = { ...MESSAGE, content: CONTENT, stop_reason: "stop_sequence", stop_sequence: PROMPT };
const FAILURE = {
  type: "error",
  error: { type: "e", code: "c", message: `${PROMPT} ${ANSWER}`, param: ANSWER },
};

/** Where services have names and codes, a gateway may put what was said. */
const SAID = `you asked: ${PROMPT}, I said: ${ANSWER}`;
const SENTENCES = {
  ...WHOLE,
  stop_reason: SAID,
  status: "incomplete",
  incomplete_details: { reason: SAID },
  service_tier: SAID,
  usage: {
    ...MESSAGE.usage,
    note: SAID,
    [SAID]: 1,
    details: [{ text: SAID }],
    service_tier: SAID,
    speed: SAID,
    iterations: [{ type: SAID, model: SAID, input_tokens: 1 }],
    server_tool_use: { [SAID]: 1 },
  },
  tool_usage: { [SAID]: { num_requests: 1, input_tokens: 1 } },
};

const START = { type: "message_start", message: { ...WHOLE, stop_reason: null } };
const DELTAS = [
  START,
  { type: "content_block_start", index: 0, content_block: CONTENT[2] },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: ANSWER } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: ANSWER } },
  { type: "message_delta", delta: { stop_reason: "stop_sequence", stop_sequence: ANSWER }, usage: {} },
];

/** Answers: what the upstream sends. */
export const ANSWERS: [what: string, answer: (res: ServerResponse) => void][] = [
  ["a message", (res) => send(res, json(WHOLE))],
  ["a message in gzip", (res) => send(res, gzipSync(json(WHOLE)), { "content-encoding": "gzip" })],
  ["a message in brotli", (res) => send(res, brotliCompressSync(json(WHOLE)), { "content-encoding": "br" })],
  ["a message that says it is gzip", (res) => send(res, json(WHOLE), { "content-encoding": "gzip" })],
  [
    "a message that breaks off",
    (res) => res.writeHead(200, JSON_TYPE).write(json(WHOLE), () => res.destroy()),
  ],
  ["a message that says it in its usage", (res) => send(res, json(SENTENCES))],
  [
    "a stream that says it in its usage",
    (res) => res.writeHead(200, SSE).end(sse([START, { ...SENTENCES, type: "message_delta" }])),
  ],
  ["an error", (res) => send(res, json(FAILURE), {}, 400)],
  ["an error that says it in its type", (res) => send(res, json({ error: { type: SAID } }), {}, 400)],
  ["an error that says it in its code", (res) => send(res, json({ code: SAID }), {}, 400)],
  ["an error in gzip", (res) => send(res, gzipSync(json(FAILURE)), { "content-encoding": "gzip" }, 400)],
  [
    "an error that is a text",
    (res) => send(res, json({ error: ANSWER, message: PROMPT, detail: [PROMPT] }), {}, 500),
  ],
  ["a page", (res) => send(res, Buffer.from(`<html>${ANSWER}`), { "content-type": "text/html" }, 502)],
  ["odd JSON", (res) => send(res, json({ usage: ANSWER, model: [ANSWER], id: { ANSWER }, content: ANSWER }))],
  ["broken UTF-8", (res) => send(res, Buffer.concat([BROKEN_UTF8, json(WHOLE), BROKEN_UTF8]))],
  ["a stream", (res) => res.writeHead(200, SSE).end(sse(DELTAS))],
  ["a stream in pieces", (res) => sendInPieces(res, sse(DELTAS))],
  ["a stream with an error", (res) => res.writeHead(200, SSE).end(sse([...DELTAS.slice(0, 2), FAILURE]))],
  [
    "a stream that breaks off",
    (res) => res.writeHead(200, SSE).write(sse(DELTAS).slice(0, -40), () => res.destroy()),
  ],
  [
    "a stream of odd lines",
    (res) => res.writeHead(200, SSE).end(`${ANSWER}\ndata: ${ANSWER}\n\nevent: ${ANSWER}\n\n`),
  ],
  ["no HTTP at all", (res) => res.socket?.end(`${ANSWER}\r\n\r\n`)],
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

function sendInPieces(res: ServerResponse, text: string): void {
  res.writeHead(200, SSE);
  for (let at = 0; at < text.length; at += 50) res.write(text.slice(at, at + 50));
  res.end();
}
