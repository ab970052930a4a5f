import assert from "node:assert/strict";
import { test } from "node:test";
import { bearer, openSandbox } from "./support.ts";

const GROUPS = { pair: ["claude-sonnet-5", "gpt-5"], single: ["gpt-5"] };

test("GET /models lists the key's group alone, in a shape that both SDK families list", async (t) => {
  const keys = [
    { name: "one", secret: "sk-one", group: "pair" },
    { name: "two", secret: "sk-two", group: "single" },
  ];
  const sandbox = await openSandbox(t, { keys, groups: GROUPS });
  const answer = await fetch(`${sandbox.baseUrl}/models`, { headers: bearer(sandbox) });
  assert.match(answer.headers.get("x-request-id") ?? "", /^req_/);
  assert.equal(answer.headers.get("content-type"), "application/json");
  const entry = {
    object: "model",
    created: 1767225600,
    owned_by: "sandbox",
    type: "model",
    created_at: "2026-01-01T00:00:00.000Z",
  };
  assert.deepEqual(await answer.json(), {
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

test("a key of an unknown group may use no model", async (t) => {
  const keys = [{ name: "one", secret: "sk-one", group: "nowhere" }];
  const sandbox = await openSandbox(t, { keys, groups: GROUPS });
  const answer = await fetch(`${sandbox.baseUrl}/models`, { headers: bearer(sandbox) });
  assert.deepEqual(await answer.json(), {
    object: "list",
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test("an idle connection is kept open for longer than clients keep theirs", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await fetch(`${sandbox.baseUrl}/models`, { headers: bearer(sandbox) });
  assert.equal(answer.headers.get("keep-alive"), "timeout=75");
});
