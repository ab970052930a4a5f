// E6, private content: no prompt and no answer, nor any header, query or path of a client, stands in any file of the daemon's or in what it prints, at its most talkative.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { startDaemon, type Daemon } from "../helpers/daemon.ts";
import { keyInFile } from "../helpers/key-file.ts";
import { rawClient } from "../helpers/raw-client.ts";
import { MESSAGE, SSE, startUpstream } from "../helpers/upstream.ts";
import { assertNowhere, makeSentinel, readFilesBelow } from "../security/leak-search.ts";

const PROMPT = makeSentinel();
const ANSWER = makeSentinel();
const JSON_TYPE = { "content-type": "application/json" };
const BROKEN_UTF8 = Buffer.from([0xc3, 0x28, 0xff, 0xed, 0xa0, 0x80]);

/** A prompt wherever requests have one. */
const REQUEST = {
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
const BODIES: [what: string, fields: string, body: Buffer][] = [
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

const DELTAS = [
  { type: "message_start", message: { ...WHOLE, stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: CONTENT[2] },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: ANSWER } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: ANSWER } },
  { type: "message_delta", delta: { stop_reason: "stop_sequence", stop_sequence: ANSWER }, usage: {} },
];

/** Answers: what the upstream sends. */
const ANSWERS: [what: string, answer: (res: ServerResponse) => void][] = [
  ["a message", (res) => send(res, json(WHOLE))],
  ["a message in gzip", (res) => send(res, gzipSync(json(WHOLE)), { "content-encoding": "gzip" })],
  ["a message in brotli", (res) => send(res, brotliCompressSync(json(WHOLE)), { "content-encoding": "br" })],
  ["a message that says it is gzip", (res) => send(res, json(WHOLE), { "content-encoding": "gzip" })],
  [
    "a message that breaks off",
    (res) => res.writeHead(200, JSON_TYPE).write(json(WHOLE), () => res.destroy()),
  ],
  ["an error", (res) => send(res, json(FAILURE), {}, 400)],
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

function json(value: unknown): Buffer {
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

/** Sends one request and reads everything that comes back. */
async function exchange(
  t: TestContext,
  daemon: Daemon,
  line: string,
  fields: string,
  body: Buffer,
): Promise<string> {
  const client = await rawClient(t, daemon.port);
  const head = `Host: 127.0.0.1:${daemon.port}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
  client.write(
    `${line} HTTP/1.1\r\n${head}${fields}Content-Length: ${body.length}\r\n\r\n${body.toString("latin1")}`,
  );
  return client.closed;
}

/** All that a daemon leaves behind: its files, its output, and what the program then says of it. */
async function tracesOf(daemon: Daemon): Promise<Record<string, string>> {
  const [status, usage] = await Promise.all([
    daemon.command("status"),
    daemon.command("usage", "--by", "model"),
  ]);
  assert.equal(await daemon.stop(), 0);
  const [stdout, stderr] = [daemon.stdout(), daemon.stderr()];
  return { ...readFilesBelow(daemon.home, null), stdout, stderr, status: status.stdout, usage: usage.stdout };
}

/** A daemon at its most talkative, in front of an upstream that answers as the request's `user` says. */
async function startTalkative(t: TestContext) {
  const upstream = await startUpstream(t, ({ body }, res) => {
    const [, answer] = ANSWERS[Number(/"user":(\d+)/.exec(body.toString("latin1"))?.[1] ?? 0)] ?? [];
    answer?.(res);
  });
  const { config } = keyInFile(t, upstream.baseUrl, "some-key");
  const limits = { bodyBytes: 10_000 };
  const options = { config: { ...config, limits }, args: ["--debug"], env: { DEBUG: "*" } };
  return { upstream, daemon: await startDaemon(t, options) };
}

test("prompts and answers in every shape pass, and are nowhere afterwards", async (t) => {
  const { upstream, daemon } = await startTalkative(t);
  const routes = ["POST /v1/messages", "POST /v1/responses", "POST /v1/messages/count_tokens"];
  const sent = routes.flatMap((line) =>
    BODIES.map(([, fields, body]) => exchange(t, daemon, line, fields, body)),
  );
  const answered = routes.flatMap((line) =>
    ANSWERS.map((_, user) => exchange(t, daemon, line, "", json({ ...REQUEST, user }))),
  );
  await Promise.all(sent);
  const received = await Promise.all(answered);
  assert.ok(upstream.seen.filter(({ body }) => body.includes(PROMPT)).length > answered.length);
  assert.ok(received.filter((text) => text.includes(ANSWER)).length > answered.length / 2);
  assert.equal((await daemon.ledger()).length, sent.length + answered.length);
  const traces = await tracesOf(daemon);
  assert.match(traces["stderr"] ?? "", /"level":20/, "it was talkative");
  assertNowhere(PROMPT, traces);
  assertNowhere(ANSWER, traces);
});

const LINES = [
  "POST /v1/messages?q=MARK",
  "POST /v1/MARK",
  "GET /v1/messages?MARK",
  "POST http://MARK/v1/messages",
];

test("nor is a header, query or path of a client, with --debug", async (t) => {
  const daemon = await startDaemon(t, { args: ["--debug"] });
  const names = ["X-Api-Key", "Authorization", "Cookie", "X-MARK"];
  const fields = names.map((name) => `${name}: Bearer MARK\r\n`).join("");
  for (const line of LINES) await exchange(t, daemon, line, fields, json({ ...REQUEST, system: "MARK" }));
  assert.equal((await daemon.ledger()).length, 1);
  const traces = await tracesOf(daemon);
  assert.match(traces["stderr"] ?? "", /"code":"not_found"/);
  for (const [what, text] of Object.entries(traces)) assert.doesNotMatch(text, /MARK/, what);
});
