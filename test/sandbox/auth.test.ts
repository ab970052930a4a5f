import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { dig, messageRequest, openSandbox, responsesRequest } from "./support.ts";

const SECRET = "sk-test-one";
const KEYS = [{ name: "one", secret: SECRET, group: "all" }];
const VERSION = { "anthropic-version": "2023-06-01" };

const ROUTES = [
  { method: "GET", path: "/models", scheme: "bearer", body: undefined },
  { method: "POST", path: "/responses", scheme: "bearer", body: responsesRequest() },
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
    test(`${method} ${path} with ${what} is ${status}`, async (t) => {
      const sandbox = await openSandbox(t, { keys: KEYS });
      const answer = await fetch(sandbox.baseUrl + path, {
        method,
        headers: { ...headers, ...VERSION },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(answer.status, status);
      if (status === 200) return;
      const error = await answer.json();
      if (scheme === "x-api-key") {
        assert.equal(dig(error, "type"), "error");
        assert.equal(dig(error, "error", "type"), "authentication_error");
      } else {
        assert.deepEqual(Object.keys(dig(error, "error") as object), ["message", "type", "param", "code"]);
        assert.equal(dig(error, "error", "code"), "invalid_api_key");
      }
      assert.doesNotMatch(JSON.stringify(error), new RegExp(SECRET));
      assert.deepEqual(sandbox.counts(), []);
    });
  }
}

for (const version of [undefined, "", "latest", "2023-06-01, 2023-06-01"]) {
  test(`POST /messages with anthropic-version ${version ?? "absent"} is 400`, async (t) => {
    const sandbox = await openSandbox(t, { keys: KEYS });
    const answer = await fetch(`${sandbox.baseUrl}/messages`, {
      method: "POST",
      headers: { "x-api-key": SECRET, ...(version !== undefined && { "anthropic-version": version }) },
      body: JSON.stringify(messageRequest()),
    });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /anthropic-version/);
  });
}

test("an authorization header that comes twice is 401, though both are right", async (t) => {
  const sandbox = await openSandbox(t, { keys: KEYS });
  const { hostname, port } = new URL(sandbox.baseUrl);
  const socket = connect(Number(port), hostname);
  const line = `Authorization: Bearer ${SECRET}\r\n`;
  socket.end(`GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`);
  assert.match(await text(socket), /^HTTP\/1\.1 401 /);
});
