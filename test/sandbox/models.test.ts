import assert from "node:assert/strict";
import { test } from "node:test";
import { bearer, openSandbox } from "./sandbox-client.ts";

const GROUPS = { pair: ["claude-sonnet-5", "gpt-5"], single: ["gpt-5"] };

test("GET /models lists only the models of the key's group, with the fields of both SDK families", async (t) => {
  const keys = [
    { name: "one", secret: "sk-one", group: "pair" },
    { name: "two", secret: "sk-two", group: "single" },
  ];
  const sandbox = await openSandbox(t, { keys, groups: GROUPS });
  const response = await fetch(`${sandbox.baseUrl}/models`, { headers: bearer(sandbox) });
  assert.match(response.headers.get("x-request-id") ?? "", /^req_/);
  assert.equal(response.headers.get("content-type"), "application/json");
  const entry = {
    object: "model",
    created: 1767225600,
    owned_by: "sandbox",
    type: "model",
    created_at: "2026-01-01T00:00:00.000Z",
  };
  assert.deepEqual(await response.json(), {
    object: "list",
    data: [
      { id: "claude-sonnet-5", display_name: "claude-sonnet-5 (sandbox)", ...entry },
      { id: "gpt-5", display_name: "gpt-5 (sandbox)", ...entry },
    ],
    has_more: false,
    first_id: "claude-sonnet-5",
    last_id: "gpt-5",
  });
});

test("a key of an unknown group gets an empty list of models", async (t) => {
  const keys = [{ name: "one", secret: "sk-one", group: "nowhere" }];
  const sandbox = await openSandbox(t, { keys, groups: GROUPS });
  const response = await fetch(`${sandbox.baseUrl}/models`, { headers: bearer(sandbox) });
  assert.deepEqual(await response.json(), {
    object: "list",
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test("the sandbox keeps idle connections open for 75 seconds, longer than clients do", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await fetch(`${sandbox.baseUrl}/models`, { headers: bearer(sandbox) });
  assert.equal(response.headers.get("keep-alive"), "timeout=75");
});

test("a model that does not exist is an error of the API that the client speaks", async (t) => {
  const sandbox = await openSandbox(t);
  const headers = bearer(sandbox);
  const ask = async (more: Record<string, string>) =>
    (await (await fetch(`${sandbox.baseUrl}/models/none`, { headers: { ...headers, ...more } })).json()) as {
      type?: string;
      error: { type: string };
    };
  const found = await ask({ "anthropic-version": "2023-06-01" });
  assert.deepEqual([found.type, found.error.type], ["error", "not_found_error"]);
  const other = await ask({});
  assert.deepEqual([other.type, other.error.type], [undefined, "invalid_request_error"]);
});
