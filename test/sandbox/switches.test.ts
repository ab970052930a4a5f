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
  valueAt,
  messageRequest,
  openSandbox,
  post,
  readEvents,
  responsesRequest,
} from "./sandbox-client.ts";

const STREAMED = {
  "/messages": messageRequest({ stream: true }),
  "/responses": responsesRequest({ stream: true }),
};
const PATHS = ["/messages", "/responses"] as const;

interface RawResponse {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  body: Buffer;
  /** True when the connection closed before the end of the body. */
  isCut: boolean;
}

/** Sends a POST request and returns the body undecoded, even when it is cut off. */
async function postRaw(sandbox: Sandbox, path: string, body: object, xSandbox: string): Promise<RawResponse> {
  const credential = path === "/messages" ? apiKey(sandbox) : bearer(sandbox);
  const headers = { ...credential, "x-sandbox": xSandbox };
  const outgoing = request(sandbox.baseUrl + path, { method: "POST", headers, agent: false });
  outgoing.end(JSON.stringify(body));
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.on("error", () => {});
  await new Promise((resolve) => response.once("close", resolve));
  const { statusCode: status, headers: received, complete } = response;
  return { status, headers: received, body: Buffer.concat(chunks), isCut: !complete };
}

test("parses a list of switches with spaces around the commas", () => {
  const scope = { name: "sandbox", defaults: {} };
  assert.deepEqual(parseSwitches(undefined, scope), NO_SWITCHES);
  assert.deepEqual(parseSwitches("delay=200, cut=5 ,gzip,no-usage", scope), {
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
  test(`x-sandbox: "${bad}" gets 400 naming the known switches`, async (t) => {
    const sandbox = await openSandbox(t);
    const response = await post(sandbox, "/responses", responsesRequest(), { "x-sandbox": `gzip,${bad}` });
    assert.equal(response.status, 400);
    assert.match(
      String(valueAt(await response.json(), "error", "message")),
      /delay=MS.*error-event.*no-usage/,
    );
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
  test(`error=${status} sends that status in the shape of each API and bills nothing`, async (t) => {
    const sandbox = await openSandbox(t);
    for (const path of PATHS) {
      const response = await post(sandbox, path, STREAMED[path], { "x-sandbox": `error=${status}` });
      assert.equal(response.status, status);
      assert.equal(response.headers.get("retry-after"), [429, 503, 529].includes(status) ? "1" : null);
      const error = valueAt(await response.json(), "error");
      if (path === "/messages") assert.equal(valueAt(error, "type"), type);
      else assert.deepEqual(Object.keys(error as object), ["message", "type", "param", "code"]);
    }
    assert.deepEqual(sandbox.counts(), []);
  });
}

test("error-event ends a /messages stream after its first content and bills nothing", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/messages", STREAMED["/messages"], { "x-sandbox": "error-event" });
  const events = readEvents(await response.text());
  assert.deepEqual(
    events.map(({ name }) => name),
    ["message_start", "content_block_start", "ping", "content_block_delta", "error"],
  );
  assert.equal(valueAt(events.at(-1), "data", "error", "type"), "overloaded_error");
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 0);
});

test("error-event ends a /responses stream with an error and the failed response", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/responses", STREAMED["/responses"], { "x-sandbox": "error-event" });
  const events = readEvents(await response.text());
  assert.deepEqual(
    events.slice(-3).map(({ name }) => name),
    ["response.output_text.delta", "error", "response.failed"],
  );
  assert.equal(valueAt(events.at(-1), "data", "response", "status"), "failed");
  assert.equal(valueAt(events.at(-1), "data", "response", "usage"), null);
  assert.deepEqual(
    events.map(({ data }) => data["sequence_number"]),
    events.map((_, at) => at),
  );
});

for (const path of PATHS) {
  for (const count of [0, 3]) {
    test(`cut=${count} closes the connection after ${count} events of a ${path} stream, without a proper end`, async (t) => {
      const sandbox = await openSandbox(t);
      const response = await postRaw(sandbox, path, STREAMED[path], `cut=${count}`);
      assert.equal(response.status, 200);
      assert.equal(readEvents(response.body.toString()).length, count);
      assert.equal(response.isCut, true);
    });
  }
}

test("cut=N closes the connection after N bytes of a JSON body", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await postRaw(sandbox, "/messages", messageRequest(), "cut=10");
  assert.equal(response.status, 200);
  assert.equal(response.body.length, 10);
  assert.equal(response.isCut, true);
});

test("gzip encodes a JSON body even though the request did not accept gzip", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await postRaw(sandbox, "/messages", messageRequest(), "gzip");
  assert.equal(response.headers["content-encoding"], "gzip");
  assert.equal(valueAt(JSON.parse(gunzipSync(response.body).toString()), "type"), "message");
});

test("gzip encodes a whole event stream", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await postRaw(sandbox, "/messages", STREAMED["/messages"], "gzip");
  assert.equal(response.headers["content-encoding"], "gzip");
  assert.equal(readEvents(gunzipSync(response.body).toString()).at(-1)?.name, "message_stop");
});

test("gzip is flushed after each event, so that everything before a cut can be decoded", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await postRaw(sandbox, "/messages", STREAMED["/messages"], "gzip, cut=3");
  const text = gunzipSync(response.body, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  assert.equal(readEvents(text).length, 3);
  assert.equal(response.isCut, true);
});

test("delay holds one response back without blocking others, and bills nothing until then", async (t) => {
  const sandbox = await openSandbox(t);
  const headers = { ...apiKey(sandbox), "x-sandbox": "delay=60000" };
  const delayed = request(`${sandbox.baseUrl}/messages`, { method: "POST", headers, agent: false });
  delayed.on("error", () => {});
  delayed.end(JSON.stringify(messageRequest()));
  await once(delayed, "finish");
  assert.equal((await post(sandbox, "/messages", messageRequest())).status, 200);
  assert.equal(valueAt(sandbox.counts(), 0, "count", "requests"), 1);
  delayed.destroy();
});

test("pace sends events one at a time: the first arrives while the rest is held back", async (t) => {
  const sandbox = await openSandbox(t);
  const controller = new AbortController();
  const response = await fetch(`${sandbox.baseUrl}/messages`, {
    method: "POST",
    headers: { ...apiKey(sandbox), "x-sandbox": "pace=60000" },
    body: JSON.stringify(STREAMED["/messages"]),
    signal: controller.signal,
  });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  assert.deepEqual(
    readEvents(Buffer.from(value ?? []).toString()).map(({ name }) => name),
    ["message_start"],
  );
  controller.abort();
});

test("refuse ends a message with stop_reason refusal, and a response with content_filter", async (t) => {
  const sandbox = await openSandbox(t);
  const refuse = { "x-sandbox": "refuse" };
  const message = await (await post(sandbox, "/messages", messageRequest(), refuse)).json();
  assert.equal(valueAt(message, "stop_reason"), "refusal");
  assert.equal(valueAt(message, "stop_details", "type"), "refusal");
  assert.deepEqual(valueAt(message, "content"), []);
  assert.equal(valueAt(message, "usage", "output_tokens"), 1);
  const stream = await post(sandbox, "/messages", STREAMED["/messages"], refuse);
  assert.deepEqual(
    readEvents(await stream.text()).map(({ name }) => name),
    ["message_start", "ping", "message_delta", "message_stop"],
  );
  const apiResponse = await (await post(sandbox, "/responses", responsesRequest(), refuse)).json();
  assert.equal(valueAt(apiResponse, "status"), "incomplete");
  assert.deepEqual(valueAt(apiResponse, "incomplete_details"), { reason: "content_filter" });
});

test("pause ends a message with stop_reason pause_turn", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/messages", messageRequest(), { "x-sandbox": "pause" });
  assert.equal(valueAt(await response.json(), "stop_reason"), "pause_turn");
});

test("no-usage omits all usage from the response but still bills it", async (t) => {
  const sandbox = await openSandbox(t);
  const silent = { "x-sandbox": "no-usage" };
  for (const path of PATHS) {
    const text = await (await post(sandbox, path, STREAMED[path], silent)).text();
    assert.doesNotMatch(text, /"(input|output)_tokens"/);
  }
  const message = await (await post(sandbox, "/messages", messageRequest(), silent)).json();
  assert.equal(valueAt(message, "usage"), undefined);
  const apiResponse = await (await post(sandbox, "/responses", responsesRequest(), silent)).json();
  assert.equal(valueAt(apiResponse, "usage"), null);
  for (const { count } of sandbox.counts()) assert.equal(count.output, 16);
});
