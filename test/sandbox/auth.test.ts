import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { chatRequest, valueAt, messageRequest, openSandbox, responsesRequest } from "./sandbox-client.ts";

const SECRET = "sk-test-one";
const KEYS = [{ name: "one", secret: SECRET, group: "all" }];
const VERSION = { "anthropic-version": "2023-06-01" };

const ROUTES = [
  { method: "GET", path: "/models", scheme: "bearer", body: undefined },
  { method: "POST", path: "/responses", scheme: "bearer", body: responsesRequest() },
  { method: "POST", path: "/chat/completions", scheme: "bearer", body: chatRequest() },
  { method: "POST", path: "/completions", scheme: "bearer", body: { model: "gpt-5", prompt: "x" } },
  {
    method: "POST",
    path: "/embeddings",
    scheme: "bearer",
    body: { model: "text-embedding-3-small", input: "x" },
  },
  { method: "POST", path: "/messages", scheme: "x-api-key", body: messageRequest() },
  { method: "POST", path: "/messages/count_tokens", scheme: "x-api-key", body: messageRequest() },
];

const CREDENTIALS: { what: string; headers: Record<string, string>; opens: string }[] = [
  { what: "a bearer key", headers: { authorization: `Bearer ${SECRET}` }, opens: "bearer" },
  { what: "an x-api-key", headers: { "x-api-key": SECRET }, opens: "x-api-key" },
  {
    what: "the key in both schemes",
    headers: { authorization: `Bearer ${SECRET}`, "x-api-key": SECRET },
    opens: "",
  },
  { what: "no key", headers: {}, opens: "" },
  { what: "a wrong bearer key", headers: { authorization: "Bearer sk-wrong" }, opens: "" },
  { what: "a wrong x-api-key", headers: { "x-api-key": "sk-wrong" }, opens: "" },
  { what: "the bare key as authorization", headers: { authorization: SECRET }, opens: "" },
];

for (const { method, path, scheme, body } of ROUTES) {
  for (const { what, headers, opens } of CREDENTIALS) {
    const status = opens === scheme ? 200 : 401;
    test(`${method} ${path} with ${what} gets ${status}`, async (t) => {
      const sandbox = await openSandbox(t, { keys: KEYS });
      const response = await fetch(sandbox.baseUrl + path, {
        method,
        headers: { ...headers, ...VERSION },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(response.status, status);
      if (status === 200) return;
      const error = await response.json();
      if (scheme === "x-api-key") {
        assert.equal(valueAt(error, "type"), "error");
        assert.equal(valueAt(error, "error", "type"), "authentication_error");
      } else {
        assert.deepEqual(Object.keys(valueAt(error, "error") as object), [
          "message",
          "type",
          "param",
          "code",
        ]);
        assert.equal(valueAt(error, "error", "code"), "invalid_api_key");
      }
      assert.doesNotMatch(JSON.stringify(error), new RegExp(SECRET));
      assert.deepEqual(sandbox.counts(), []);
    });
  }
}

for (const version of [undefined, "", "latest", "2023-06-01, 2023-06-01"]) {
  test(`POST /messages with anthropic-version ${JSON.stringify(version) ?? "missing"} gets 400`, async (t) => {
    const sandbox = await openSandbox(t, { keys: KEYS });
    const response = await fetch(`${sandbox.baseUrl}/messages`, {
      method: "POST",
      headers: { "x-api-key": SECRET, ...(version !== undefined && { "anthropic-version": version }) },
      body: JSON.stringify(messageRequest()),
    });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /anthropic-version/);
  });
}

test("a repeated authorization header gets 401 even when both values are right", async (t) => {
  const sandbox = await openSandbox(t, { keys: KEYS });
  const { hostname, port } = new URL(sandbox.baseUrl);
  const socket = connect(Number(port), hostname);
  const line = `Authorization: Bearer ${SECRET}\r\n`;
  socket.end(`GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`);
  assert.match(await text(socket), /^HTTP\/1\.1 401 /);
});
