import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRequests } from "../../../src/core/capture/compare.ts";
import { readRequest, type ReadRequest } from "../../../src/core/capture/read-request.ts";

const MARK = { cache_control: { type: "ephemeral" } };

function request(changes: object = {}): ReadRequest {
  const read = readRequest(
    JSON.stringify({
      model: "claude-sonnet-5",
      max_tokens: 100,
      system: [{ type: "text", text: "You are an agent. Today is Monday.", ...MARK }],
      tools: [{ name: "shell" }, { name: "read" }],
      messages: [{ role: "user", content: [{ type: "text", text: "Fix it", ...MARK }] }],
      ...changes,
    }),
  );
  assert.ok(read !== null);
  return read;
}

const GOES_ON = {
  messages: [
    { role: "user", content: [{ type: "text", text: "Fix it" }] },
    { role: "assistant", content: "Done." },
    { role: "user", content: [{ type: "text", text: "Thanks", ...MARK }] },
  ],
};

test("a request that goes on breaks nothing, wherever the marks are and however long the answer may be", () => {
  const found = compareRequests(request(), request({ ...GOES_ON, max_tokens: 200 }));
  assert.equal(found.breaksAt, null);
  assert.deepEqual(found.settings, [{ name: "max_tokens", before: "100", after: "200" }]);
  assert.deepEqual(found.messages, { same: 1, before: 1, after: 3, changed: null });
  assert.deepEqual(compareRequests(request(), request()).breaksAt, null);
});

const note = (content: unknown) => ({ role: "system", content });

test("a text is the same as its only block, as which tools write it while it has a mark", () => {
  const [asked] = GOES_ON.messages;
  const before = request({ messages: [asked, note([{ type: "text", text: "10 tokens left", ...MARK }])] });
  const after = request({ messages: [asked, note("10 tokens left"), { role: "user", content: "Thanks" }] });
  assert.equal(compareRequests(before, after).breaksAt, null);
  const other = request({ messages: [asked, note("9 tokens left")] });
  assert.equal(compareRequests(before, other).breaksAt, "messages");
});

const breaksAt = (changes: object) =>
  compareRequests(request(), request({ ...GOES_ON, ...changes })).breaksAt;

test("the first part that differs is where it breaks, in the order in which services cache", () => {
  const system = "You are an agent. Today is Tuesday.";
  assert.equal(breaksAt({ model: "claude-haiku-4-5", system }), "settings");
  assert.equal(breaksAt({ tools: [{ name: "shell" }], system }), "tools");
  assert.equal(breaksAt({ tools: [{ name: "read" }, { name: "shell" }] }), "tools");
  assert.equal(breaksAt({ tools: [{ name: "shell", description: "new" }, { name: "read" }] }), "tools");
  assert.equal(breaksAt({ system, messages: [] }), "system prompt");
  assert.equal(breaksAt({ messages: [{ role: "user", content: "Fix that" }] }), "messages");
  assert.equal(breaksAt({ messages: [] }), "messages");
});

const withItem = (id: string) =>
  request({ messages: [], input: [{ type: "message", role: "user", id, content: "Fix it" }] });

test("ids of items are not compared", () => {
  assert.equal(compareRequests(withItem("msg_1"), withItem("msg_2")).breaksAt, null);
});

test("texts are shown from before their first difference", () => {
  const found = compareRequests(
    request(),
    request({
      system: "You are an agent. Today is Tuesday.",
      messages: [{ role: "user", content: "Fix that" }],
    }),
  );
  assert.deepEqual(found.system, {
    same: 27,
    before: "You are an agent. Today is Monday.",
    after: "You are an agent. Today is Tuesday.",
  });
  assert.deepEqual([found.messages.same, found.messages.changed?.role], [0, "user"]);
  const long = "x".repeat(1000);
  const { system } = compareRequests(
    request({ system: `${long}a${long}` }),
    request({ system: `${long}b${long}` }),
  );
  assert.deepEqual([system?.same, system?.before.length, system?.after[40]], [1000, 160, "b"]);
});
