import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { test } from "node:test";
import { constants, gunzipSync } from "node:zlib";
import { NO_SWITCHES, parseSwitches } from "../../src/sandbox/switches.ts";
import type { Sandbox } from "../../src/sandbox/server.ts";
import {
  apiKey,
  bearer,
  dig,
  messageRequest,
  openSandbox,
  post,
  readEvents,
  responsesRequest,
} from "./support.ts";

const STREAMED = {
  "/messages": messageRequest({ stream: true }),
  "/responses": responsesRequest({ stream: true }),
};
const PATHS = ["/messages", "/responses"] as const;

interface RawAnswer {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  body: Buffer;
  /** Did the connection end before the body did? */
  isCut: boolean;
}

/** A POST that takes the body as it is on the wire, and a cut for an answer. */
async function postRaw(sandbox: Sandbox, path: string, body: object, xSandbox: string): Promise<RawAnswer> {
  const credential = path === "/messages" ? apiKey(sandbox) : bearer(sandbox);
  const headers = { ...credential, "x-sandbox": xSandbox };
  const outgoing = request(sandbox.baseUrl + path, { method: "POST", headers, agent: false });
  outgoing.end(JSON.stringify(body));
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  answer.on("data", (chunk: Buffer) => chunks.push(chunk));
  answer.on("error", () => {});
  await new Promise((resolve) => answer.once("close", resolve));
  const { statusCode: status, headers: answered, complete } = answer;
  return { status, headers: answered, body: Buffer.concat(chunks), isCut: !complete };
}

test("a list of switches is read, blanks and all", () => {
  assert.deepEqual(parseSwitches(undefined), NO_SWITCHES);
  assert.deepEqual(parseSwitches("delay=200, cut=5 ,gzip,no-usage"), {
    ...NO_SWITCHES,
    delayMs: 200,
    cutAfter: 5,
    gzip: true,
    noUsage: true,
  });
});

for (const bad of [
  "sleep=1",
  "delay",
  "delay=",
  "delay=soon",
  "cut=-1",
  "gzip=1",
  "error=200",
  "error=700",
  "",
]) {
  test(`x-sandbox: "${bad}" is 400 and names the known switches`, async (t) => {
    const sandbox = await openSandbox(t);
    const answer = await post(sandbox, "/responses", responsesRequest(), { "x-sandbox": `gzip,${bad}` });
    assert.equal(answer.status, 400);
    assert.match(String(dig(await answer.json(), "error", "message")), /delay=MS.*error-event.*no-usage/);
  });
}

for (const [status, type] of [
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [429, "rate_limit_error"],
  [500, "api_error"],
  [503, "api_error"],
  [529, "overloaded_error"],
] as const) {
  test(`error=${status} is that error in each API's shape, and costs nothing`, async (t) => {
    const sandbox = await openSandbox(t);
    for (const path of PATHS) {
      const answer = await post(sandbox, path, STREAMED[path], { "x-sandbox": `error=${status}` });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("retry-after"), [429, 503, 529].includes(status) ? "1" : null);
      const error = dig(await answer.json(), "error");
      if (path === "/messages") assert.equal(dig(error, "type"), type);
      else assert.deepEqual(Object.keys(error as object), ["message", "type", "param", "code"]);
    }
    assert.deepEqual(sandbox.counts(), []);
  });
}

test("error-event ends a /messages stream after its first content, and costs nothing", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await post(sandbox, "/messages", STREAMED["/messages"], { "x-sandbox": "error-event" });
  const events = readEvents(await answer.text());
  assert.deepEqual(
    events.map(({ name }) => name),
    ["message_start", "content_block_start", "ping", "content_block_delta", "error"],
  );
  assert.equal(dig(events.at(-1), "data", "error", "type"), "overloaded_error");
  assert.equal(dig(sandbox.counts(), 0, "count", "output"), 0);
});

test("error-event ends a /responses stream with an error and the failed response", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await post(sandbox, "/responses", STREAMED["/responses"], { "x-sandbox": "error-event" });
  const events = readEvents(await answer.text());
  assert.deepEqual(
    events.slice(-3).map(({ name }) => name),
    ["response.output_text.delta", "error", "response.failed"],
  );
  assert.equal(dig(events.at(-1), "data", "response", "status"), "failed");
  assert.equal(dig(events.at(-1), "data", "response", "usage"), null);
  assert.deepEqual(
    events.map(({ data }) => data["sequence_number"]),
    events.map((_, at) => at),
  );
});

for (const path of PATHS) {
  for (const count of [0, 3]) {
    test(`cut=${count} breaks a ${path} stream off after ${count} events, with an unclean end`, async (t) => {
      const sandbox = await openSandbox(t);
      const answer = await postRaw(sandbox, path, STREAMED[path], `cut=${count}`);
      assert.equal(answer.status, 200);
      assert.equal(readEvents(answer.body.toString()).length, count);
      assert.equal(answer.isCut, true);
    });
  }
}

test("cut=N breaks a JSON body off after N bytes", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await postRaw(sandbox, "/messages", messageRequest(), "cut=10");
  assert.equal(answer.status, 200);
  assert.equal(answer.body.length, 10);
  assert.equal(answer.isCut, true);
});

test("gzip encodes JSON that nobody asked to be encoded", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await postRaw(sandbox, "/messages", messageRequest(), "gzip");
  assert.equal(answer.headers["content-encoding"], "gzip");
  assert.equal(dig(JSON.parse(gunzipSync(answer.body).toString()), "type"), "message");
});

test("gzip encodes a whole stream", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await postRaw(sandbox, "/messages", STREAMED["/messages"], "gzip");
  assert.equal(answer.headers["content-encoding"], "gzip");
  assert.equal(readEvents(gunzipSync(answer.body).toString()).at(-1)?.name, "message_stop");
});

test("gzip is flushed per event: what precedes a cut can be decoded", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await postRaw(sandbox, "/messages", STREAMED["/messages"], "gzip, cut=3");
  const text = gunzipSync(answer.body, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  assert.equal(readEvents(text).length, 3);
  assert.equal(answer.isCut, true);
});

test("delay holds an answer back while others are given, and bills nothing before", async (t) => {
  const sandbox = await openSandbox(t);
  const headers = { ...apiKey(sandbox), "x-sandbox": "delay=60000" };
  const delayed = request(`${sandbox.baseUrl}/messages`, { method: "POST", headers, agent: false });
  delayed.on("error", () => {});
  delayed.end(JSON.stringify(messageRequest()));
  await once(delayed, "finish");
  assert.equal((await post(sandbox, "/messages", messageRequest())).status, 200);
  assert.equal(dig(sandbox.counts(), 0, "count", "requests"), 1);
  delayed.destroy();
});

test("pace sends the events one by one: the first is there while the rest still waits", async (t) => {
  const sandbox = await openSandbox(t);
  const controller = new AbortController();
  const answer = await fetch(`${sandbox.baseUrl}/messages`, {
    method: "POST",
    headers: { ...apiKey(sandbox), "x-sandbox": "pace=60000" },
    body: JSON.stringify(STREAMED["/messages"]),
    signal: controller.signal,
  });
  const reader = answer.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  assert.deepEqual(
    readEvents(Buffer.from(value ?? []).toString()).map(({ name }) => name),
    ["message_start"],
  );
  controller.abort();
});

test("refuse ends a message with refusal, and a response with content_filter", async (t) => {
  const sandbox = await openSandbox(t);
  const refuse = { "x-sandbox": "refuse" };
  const message = await (await post(sandbox, "/messages", messageRequest(), refuse)).json();
  assert.equal(dig(message, "stop_reason"), "refusal");
  assert.equal(dig(message, "stop_details", "type"), "refusal");
  assert.deepEqual(dig(message, "content"), []);
  assert.equal(dig(message, "usage", "output_tokens"), 1);
  const stream = await post(sandbox, "/messages", STREAMED["/messages"], refuse);
  assert.deepEqual(
    readEvents(await stream.text()).map(({ name }) => name),
    ["message_start", "ping", "message_delta", "message_stop"],
  );
  const response = await (await post(sandbox, "/responses", responsesRequest(), refuse)).json();
  assert.equal(dig(response, "status"), "incomplete");
  assert.deepEqual(dig(response, "incomplete_details"), { reason: "content_filter" });
});

test("pause ends a message with pause_turn", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await post(sandbox, "/messages", messageRequest(), { "x-sandbox": "pause" });
  assert.equal(dig(await answer.json(), "stop_reason"), "pause_turn");
});

test("no-usage leaves all usage out, though the service bills", async (t) => {
  const sandbox = await openSandbox(t);
  const silent = { "x-sandbox": "no-usage" };
  for (const path of PATHS) {
    const text = await (await post(sandbox, path, STREAMED[path], silent)).text();
    assert.doesNotMatch(text, /"(input|output)_tokens"/);
  }
  const message = await (await post(sandbox, "/messages", messageRequest(), silent)).json();
  assert.equal(dig(message, "usage"), undefined);
  const response = await (await post(sandbox, "/responses", responsesRequest(), silent)).json();
  assert.equal(dig(response, "usage"), null);
  for (const { count } of sandbox.counts()) assert.equal(count.output, 16);
});
