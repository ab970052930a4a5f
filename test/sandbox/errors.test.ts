import assert from "node:assert/strict";
import { request } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { apiKey, bearer, dig, messageRequest, openSandbox, post, responsesRequest } from "./support.ts";

const GROUPS = { small: ["claude-sonnet-5", "gpt-5"] };
const KEYS = [{ name: "one", secret: "sk-one", group: "small" }];

test("a model outside the key's group is 404 not_found_error on /messages and count_tokens", async (t) => {
  const sandbox = await openSandbox(t, { keys: KEYS, groups: GROUPS });
  for (const path of ["/messages", "/messages/count_tokens"]) {
    const answer = await post(sandbox, path, messageRequest({ model: "claude-opus-5" }));
    assert.equal(answer.status, 404);
    const body = await answer.json();
    assert.deepEqual(dig(body, "error"), { type: "not_found_error", message: "model: claude-opus-5" });
    assert.equal(dig(body, "request_id"), answer.headers.get("request-id"));
  }
});

test("a model outside the key's group is 404 model_not_found on /responses", async (t) => {
  const sandbox = await openSandbox(t, { keys: KEYS, groups: GROUPS });
  const answer = await post(sandbox, "/responses", responsesRequest({ model: "gpt-4.1" }));
  assert.equal(answer.status, 404);
  const error = dig(await answer.json(), "error");
  assert.equal(dig(error, "code"), "model_not_found");
  assert.equal(dig(error, "param"), "model");
});

for (const field of ["model", "messages", "max_tokens"]) {
  test(`POST /messages without ${field} is 400 and names it`, async (t) => {
    const sandbox = await openSandbox(t);
    const answer = await post(sandbox, "/messages", messageRequest({ [field]: undefined }));
    assert.equal(answer.status, 400);
    assert.deepEqual(dig(await answer.json(), "error"), {
      type: "invalid_request_error",
      message: `${field}: Field required`,
    });
  });
}

for (const max_tokens of [0, -1, 1.5, "10", null]) {
  test(`POST /messages with max_tokens ${JSON.stringify(max_tokens)} is 400`, async (t) => {
    const sandbox = await openSandbox(t);
    assert.equal((await post(sandbox, "/messages", messageRequest({ max_tokens }))).status, 400);
  });
}

test("POST /messages/count_tokens needs no max_tokens", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await post(sandbox, "/messages/count_tokens", messageRequest({ max_tokens: undefined }));
  assert.equal(answer.status, 200);
});

for (const field of ["model", "input"]) {
  test(`POST /responses without ${field} is 400 and names it`, async (t) => {
    const sandbox = await openSandbox(t);
    const answer = await post(sandbox, "/responses", responsesRequest({ [field]: undefined }));
    assert.equal(answer.status, 400);
    assert.deepEqual(dig(await answer.json(), "error"), {
      message: `Missing required parameter: '${field}'.`,
      type: "invalid_request_error",
      param: field,
      code: "missing_required_parameter",
    });
  });
}

test("an unknown path is 404 in the shape of the API that it lies under", async (t) => {
  const sandbox = await openSandbox(t);
  const messages = await post(sandbox, "/messages/batches", {});
  assert.equal(messages.status, 404);
  assert.equal(dig(await messages.json(), "error", "type"), "not_found_error");
  const other = await fetch(`${sandbox.baseUrl}/embeddings`, { headers: bearer(sandbox) });
  assert.equal(other.status, 404);
  assert.equal(dig(await other.json(), "error", "type"), "invalid_request_error");
});

for (const [method, path, allow] of [
  ["POST", "/models", "GET"],
  ["GET", "/responses", "POST"],
  ["DELETE", "/responses/resp_1", "GET"],
  ["GET", "/messages", "POST"],
  ["PUT", "/messages/count_tokens", "POST"],
] as const) {
  test(`${method} ${path} is 405 with allow: ${allow}`, async (t) => {
    const sandbox = await openSandbox(t);
    const headers = { ...bearer(sandbox), ...apiKey(sandbox) };
    const answer = await fetch(sandbox.baseUrl + path, { method, headers });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get("allow"), allow);
  });
}

test("a query does not change the route", async (t) => {
  const sandbox = await openSandbox(t);
  assert.equal((await post(sandbox, "/messages?beta=true", messageRequest())).status, 200);
});

test("a websocket upgrade is 426", async (t) => {
  const sandbox = await openSandbox(t);
  const upgrade = request(`${sandbox.baseUrl}/responses`, {
    headers: { connection: "Upgrade", upgrade: "websocket" },
  });
  upgrade.end();
  const [answer] = await once(upgrade, "response");
  assert.equal(dig(answer, "statusCode"), 426);
  upgrade.destroy();
});
