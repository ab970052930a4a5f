import assert from "node:assert/strict";
import { test } from "node:test";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post, TEST_KEY, type TestGate } from "../../helpers/gate/gate.ts";
import { sendJson } from "../../helpers/upstream/scripted-upstream.ts";

/** Sends a request as Claude Code would, and returns its record. */
async function recordOf(gate: TestGate, headers: Record<string, string>) {
  await (await post(gate, "/v1/messages", { model: "m" }, headers)).text();
  return gate.ledger.only();
}

test("the names of agents are hashed with the session, in the record as anywhere", async (t) => {
  const ids = new Set<string | null>();
  for (const session of ["one", "two", "two"]) {
    const { gate } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}));
    const record = await recordOf(gate, {
      "x-claude-code-session-id": session,
      "x-claude-code-agent-id": "alice@team",
      "x-claude-code-prompt-id": TEST_KEY,
    });
    assert.match(record.agent ?? "", /^named-[0-9a-f]{16}$/);
    assert.match(record.turn ?? "", /^named-[0-9a-f]{16}$/);
    assert.equal(record.agent_kind, "subagent");
    assert.doesNotMatch(JSON.stringify(record), /alice|sentinel/);
    ids.add(record.agent);
  }
  assert.equal(ids.size, 2, "the same in one session, another in the next");
});

test("a key that looks like a random id is not in the record as an agent or a turn", async (t) => {
  const key = "0123456789abcdef0123456789abcdef";
  const { gate } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}));
  gate.keys.set({ name: gate.upstream.key, origin: gate.upstream.origin }, key);
  const record = await recordOf(gate, {
    "x-claude-code-session-id": "one",
    "x-claude-code-agent-id": key,
    "x-claude-code-parent-agent-id": key,
    "x-claude-code-prompt-id": key,
  });
  assert.doesNotMatch(JSON.stringify(record), new RegExp(key));
});
