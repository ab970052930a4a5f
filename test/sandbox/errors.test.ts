import assert from "node:assert/strict";
import { request } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import {
  apiKey,
  bearer,
  chatRequest,
  valueAt,
  messageRequest,
  openSandbox,
  post,
  responsesRequest,
} from "./sandbox-client.ts";

const GROUPS = { small: ["claude-sonnet-5", "gpt-5"] };
const KEYS = [{ name: "one", secret: "sk-one", group: "small" }];

test("a model outside the key's group gets 404 not_found_error on /messages and /messages/count_tokens", async (t) => {
  const sandbox = await openSandbox(t, { keys: KEYS, groups: GROUPS });
  for (const path of ["/messages", "/messages/count_tokens"]) {
    const response = await post(sandbox, path, messageRequest({ model: "claude-opus-5" }));
    assert.equal(response.status, 404);
    const body = await response.json();
    assert.deepEqual(valueAt(body, "error"), { type: "not_found_error", message: "model: claude-opus-5" });
    assert.equal(valueAt(body, "request_id"), response.headers.get("request-id"));
  }
});

for (const [path, body] of [
  ["/responses", responsesRequest({ model: "gpt-4.1" })],
  ["/chat/completions", chatRequest({ model: "gpt-4.1" })],
  ["/chat/completions", chatRequest({ model: "gpt-4.1", stream: true })],
  ["/completions", { model: "gpt-4.1", prompt: "x" }],
  ["/embeddings", { model: "gpt-4.1", input: "x" }],
] as const) {
  test(`a model outside the key's group gets 404 model_not_found on ${path}, stream ${"stream" in body}`, async (t) => {
    const sandbox = await openSandbox(t, { keys: KEYS, groups: GROUPS });
    const response = await post(sandbox, path, body);
    assert.equal(response.status, 404);
    const error = valueAt(await response.json(), "error");
    assert.equal(valueAt(error, "code"), "model_not_found");
    assert.equal(valueAt(error, "param"), "model");
  });
}

for (const field of ["model", "messages", "max_tokens"]) {
  test(`POST /messages without ${field} gets 400 naming the field`, async (t) => {
    const sandbox = await openSandbox(t);
    const response = await post(sandbox, "/messages", messageRequest({ [field]: undefined }));
    assert.equal(response.status, 400);
    assert.deepEqual(valueAt(await response.json(), "error"), {
      type: "invalid_request_error",
      message: `${field}: Field required`,
    });
  });
}

for (const max_tokens of [0, -1, 1.5, "10", null]) {
  test(`POST /messages with max_tokens ${JSON.stringify(max_tokens)} gets 400`, async (t) => {
    const sandbox = await openSandbox(t);
    assert.equal((await post(sandbox, "/messages", messageRequest({ max_tokens }))).status, 400);
  });
}

test("POST /messages/count_tokens does not require max_tokens", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/messages/count_tokens", messageRequest({ max_tokens: undefined }));
  assert.equal(response.status, 200);
});

for (const [path, whole, field] of [
  ["/responses", responsesRequest(), "model"],
  ["/responses", responsesRequest(), "input"],
  ["/chat/completions", chatRequest(), "model"],
  ["/chat/completions", chatRequest(), "messages"],
  ["/completions", { model: "gpt-5", prompt: "x" }, "model"],
  ["/completions", { model: "gpt-5", prompt: "x" }, "prompt"],
  ["/embeddings", { model: "text-embedding-3-small", input: "x" }, "model"],
  ["/embeddings", { model: "text-embedding-3-small", input: "x" }, "input"],
] as const) {
  test(`POST ${path} without ${field} gets 400 naming the field`, async (t) => {
    const sandbox = await openSandbox(t);
    const response = await post(sandbox, path, { ...whole, [field]: undefined });
    assert.equal(response.status, 400);
    assert.deepEqual(valueAt(await response.json(), "error"), {
      message: `Missing required parameter: '${field}'.`,
      type: "invalid_request_error",
      param: field,
      code: "missing_required_parameter",
    });
  });
}

for (const [path, field, value] of [
  ["/chat/completions", "max_tokens", 0],
  ["/chat/completions", "max_completion_tokens", "10"],
  ["/chat/completions", "n", 129],
  ["/chat/completions", "messages", []],
  ["/completions", "prompt", []],
  ["/completions", "prompt", [{}]],
  ["/embeddings", "input", [["x"]]],
  ["/embeddings", "dimensions", 3073],
] as const) {
  test(`POST ${path} with ${field} ${JSON.stringify(value)} gets 400 naming the field`, async (t) => {
    const sandbox = await openSandbox(t);
    const whole = chatRequest({ prompt: "x", input: "x" });
    const response = await post(sandbox, path, { ...whole, [field]: value });
    assert.equal(response.status, 400);
    assert.equal(valueAt(await response.json(), "error", "param"), field);
    assert.deepEqual(sandbox.executions(), []);
  });
}

test("an unknown path gets 404 in the shape of the API that it belongs to", async (t) => {
  const sandbox = await openSandbox(t);
  const messages = await post(sandbox, "/messages/nothing", {});
  assert.equal(messages.status, 404);
  assert.equal(valueAt(await messages.json(), "error", "type"), "not_found_error");
  const other = await fetch(`${sandbox.baseUrl}/images`, { headers: bearer(sandbox) });
  assert.equal(other.status, 404);
  assert.equal(valueAt(await other.json(), "error", "type"), "invalid_request_error");
});

for (const [method, path, allow] of [
  ["POST", "/models", "GET"],
  ["GET", "/responses", "POST"],
  ["PUT", "/responses/resp_1", "GET, DELETE"],
  ["GET", "/messages", "POST"],
  ["GET", "/chat/completions", "POST"],
  ["PUT", "/embeddings", "POST"],
  ["DELETE", "/completions", "POST"],
  ["PUT", "/messages/count_tokens", "POST"],
] as const) {
  test(`${method} ${path} gets 405 with allow: ${allow}`, async (t) => {
    const sandbox = await openSandbox(t);
    const headers = { ...bearer(sandbox), ...apiKey(sandbox) };
    const response = await fetch(sandbox.baseUrl + path, { method, headers });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("allow"), allow);
  });
}

test("the query does not affect routing", async (t) => {
  const sandbox = await openSandbox(t);
  assert.equal((await post(sandbox, "/messages?beta=true", messageRequest())).status, 200);
});

test("a WebSocket upgrade without a key for its handshake gets 426", async (t) => {
  const sandbox = await openSandbox(t);
  const upgrade = request(`${sandbox.baseUrl}/responses`, {
    headers: { connection: "Upgrade", upgrade: "websocket" },
  });
  upgrade.end();
  const [response] = await once(upgrade, "response");
  assert.equal(valueAt(response, "statusCode"), 426);
  upgrade.destroy();
});
