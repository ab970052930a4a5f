import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { METADATA_CHARACTERS, readAgent } from "../../../src/core/identity/agent.ts";
import type { AgentFacts } from "../../../src/core/identity/agent-facts.ts";
import { identifyTool } from "../../../src/core/identity/tool-identity.ts";

const conceal = (text: string) => `hidden ${text.length}`;
const read = (headers: Record<string, string>) =>
  readAgent(new HeaderIndex(Object.entries(headers).flat()), null, conceal);
const facts = (known: Partial<AgentFacts>): AgentFacts => ({
  agent: null,
  agent_parent: null,
  agent_kind: null,
  turn: null,
  ...known,
});

const ID = "52c1c6d4-d523-4fae-a4cb-0caaa251032f";
const OTHER = "82149307-e06a-4b43-a7c3-c006be731b61";
const CLAUDE = { "x-claude-code-session-id": ID, "x-app": "cli" };

for (const [name, headers, expected] of [
  ["a main request without hints says nothing", {}, {}],
  [
    "a sub-agent has an id",
    { "x-claude-code-agent-id": "a9ce25b5e8a1a2f4c" },
    { agent: "a9ce25b5e8a1a2f4c", agent_kind: "subagent" },
  ],
  [
    "a nested one has a parent, too",
    { "x-claude-code-agent-id": "a1b2c3d4e5", "x-claude-code-parent-agent-id": "a9ce25b5e8a1a2f4c" },
    { agent: "a1b2c3d4e5", agent_parent: "a9ce25b5e8a1a2f4c", agent_kind: "subagent" },
  ],
  [
    "a hint names the main agent, and the prompt",
    { "x-claude-code-request-class": "main", "x-claude-code-prompt-id": OTHER },
    { agent_kind: "main", turn: OTHER },
  ],
  ["a hint names a small task", { "x-claude-code-request-class": "auxiliary" }, { agent_kind: "auxiliary" }],
  [
    "a hint names a compaction",
    { "x-claude-code-request-class": "compaction" },
    { agent_kind: "compaction" },
  ],
  [
    "a teammate is told from other sub-agents, and its name is concealed",
    {
      "x-claude-code-agent-id": "alice@team",
      "x-claude-code-request-class": "subagent",
      "x-claude-code-agent-type": "teammate",
    },
    { agent: "hidden 10", agent_kind: "teammate" },
  ],
  [
    "a custom type is a sub-agent",
    { "x-claude-code-request-class": "subagent", "x-claude-code-agent-type": "custom" },
    { agent_kind: "subagent" },
  ],
  ["what runs in the background says so", { "x-app": "cli-bg" }, { agent_kind: "background" }],
  [
    "a word that is not known says nothing",
    { "x-claude-code-request-class": "constructor", "x-claude-code-agent-type": "__proto__" },
    {},
  ],
] as const) {
  test(`Claude Code: ${name}`, () => {
    assert.deepEqual(read({ ...CLAUDE, ...headers }), facts(expected));
  });
}

const codex = (metadata: object, more: Record<string, string> = {}) => ({
  "session-id": ID,
  "thread-id": ID,
  "x-codex-turn-metadata": JSON.stringify(metadata),
  ...more,
});

for (const [name, headers, expected] of [
  [
    "the main agent has a turn",
    codex({ turn_id: OTHER, request_kind: "turn", thread_source: "user" }),
    { agent_kind: "main", turn: OTHER },
  ],
  [
    "a sub-agent's turn is the one that it was started in",
    codex(
      { turn_id: ID, root_turn_id: OTHER },
      { "thread-id": OTHER, "x-openai-subagent": "collab_spawn", "x-codex-parent-thread-id": ID },
    ),
    { agent: OTHER, agent_kind: "subagent", turn: OTHER },
  ],
  [
    "a nested one has a parent",
    codex({}, { "thread-id": OTHER, "x-codex-parent-thread-id": "01a1fd25-81e0-7e81-8405-583513726bfc" }),
    { agent: OTHER, agent_parent: "01a1fd25-81e0-7e81-8405-583513726bfc", agent_kind: "subagent" },
  ],
  ["a review", codex({}, { "x-openai-subagent": "review" }), { agent_kind: "review" }],
  [
    "what keeps its memory",
    codex({}, { "x-openai-subagent": "memory_consolidation" }),
    { agent_kind: "memory" },
  ],
  [
    "another name of a sub-agent is not kept",
    codex({}, { "x-openai-subagent": "my own label" }),
    { agent_kind: "subagent" },
  ],
  ["metadata that is not JSON says nothing", { "x-codex-turn-metadata": "{" }, {}],
  [
    "metadata that is too long is not read",
    codex({ turn_id: OTHER, workspaces: "x".repeat(METADATA_CHARACTERS) }),
    {},
  ],
  [
    "a turn that is no random id is concealed",
    codex({ turn_id: "/home/me", thread_source: "toString" }),
    { turn: "hidden 8" },
  ],
  ["an empty turn is none", codex({ turn_id: "", request_kind: "prewarm" }), { agent_kind: "warmup" }],
] as const) {
  test(`Codex: ${name}`, () => {
    assert.deepEqual(read(headers), facts(expected));
  });
}

test("opencode and Kilo: a child session is an agent of its parent's", () => {
  const [child, parent] = ["ses_e02da451bffeKvhkfCzkVl6Zei", "ses_e02da3895ffepfgrqtatGJF7zI"];
  const headers = { "x-session-id": child, "x-parent-session-id": parent, "session-id": child };
  assert.deepEqual(read(headers), facts({ agent: child, agent_kind: "subagent" }));
  const index = new HeaderIndex(Object.entries(headers).flat());
  assert.equal(identifyTool(null, index, { tools: [], libraries: [] }).session, parent);
  assert.deepEqual(read({ "x-session-id": parent, "session-id": parent }), facts({}));
});

test("Copilot: the kind of its interaction, and the turn", () => {
  const said = read({
    "x-interaction-type": "conversation-user",
    "x-initiator": "user",
    "x-interaction-id": OTHER,
  });
  assert.deepEqual(said, facts({ agent_kind: "main", turn: OTHER }));
  assert.deepEqual(read({ "x-interaction-type": "a person's words" }), facts({}));
});

test("of the requests that were recorded from real tools, kinds and turns are read", () => {
  const path = new URL("../../helpers/tools/recorded-requests.jsonl", import.meta.url);
  const found: Record<string, number> = {};
  for (const line of readFileSync(path, "utf8").trim().split("\n")) {
    const { tool, mode, headers } = JSON.parse(line) as { tool: string; mode: string; headers: string[][] };
    const { agent, agent_kind: kind, turn } = readAgent(new HeaderIndex(headers.flat()), null, conceal);
    assert.equal(agent, null, "none of them was a sub-agent's");
    if (kind === null) assert.equal(turn, null, mode);
    else
      found[`${tool} ${kind}${turn === null ? "" : " with a turn"}`] =
        1 + (found[`${tool} ${kind}${turn === null ? "" : " with a turn"}`] ?? 0);
  }
  assert.deepEqual(Object.keys(found).toSorted(), [
    "codex compaction with a turn",
    "codex main with a turn",
    "codex title with a turn",
    "codex warmup",
    "copilot main",
  ]);
});
