import assert from "node:assert/strict";
import * as fc from "fast-check";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { identifyTool, type ToolIdentity } from "../../src/core/identity/tool-identity.ts";
import { AGENT_KINDS } from "../../src/core/identity/agent-facts.ts";
import { readAgent, type MessageIds } from "../../src/core/identity/agent.ts";
import { parseToolName } from "../../src/core/config/names.ts";
import { REQUEST_SIGNATURES } from "../../src/tools/all.ts";
import { flatten, headerName, headerValue, respell, type Header } from "./header-lists.ts";
import { property, type Property } from "./property.ts";
import { splitWords } from "./words.ts";

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const KNOWN = new Set([...REQUEST_SIGNATURES.tools, ...REQUEST_SIGNATURES.libraries].map(({ tool }) => tool));

const VALUES: Record<string, readonly string[]> = {
  authorization: ["Bearer tk-zed", "bearer tk-Zed", "tk-zed", "Bearer tk-", "Bearer sk-real", "Basic tk-zed"],
  "x-api-key": ["tk-aider", "tk-../x", "TK-zed", "sk-real"],
  "x-tollkeeper-tool": ["my-tool", "My.Tool", "-x", "", "a".repeat(65), "t\u00f6l"],
  "user-agent": [
    ...splitWords(
      "claude-code/2 codex_cli_rs/0.151.0 opencode/1 kilo/1 curl/8 node-fetch langchainjs-openai/1",
    ),
    "claude-cli/2.1 (external, cli)",
    "Anthropic/JS 0.1",
    "OpenAI/JS 6",
    "ai-sdk/x runtime/bun/1",
    "",
  ],
  originator: ["codex_cli_rs", "x"],
  "x-title": ["Kilo Code", "other"],
  "x-initiator": ["user"],
  "anthropic-beta": ["interleaved-thinking-2025-05-14"],
  "anthropic-dangerous-direct-browser-access": ["true"],
  "x-claude-code-session-id": ["s1"],
  "x-claude-code-agent-id": ["", "alice@team", "a9ce25b5e8a1a2f4c", "my secret plan"],
  "x-claude-code-parent-agent-id": ["/home/me/secret", "a9ce25b5e8a1a2f4c"],
  "x-claude-code-agent-type": ["teammate", "my secret plan", "__proto__"],
  "x-claude-code-prompt-id": ["what I asked", "x".repeat(9_000)],
  "x-codex-turn-metadata": [
    "{",
    "null",
    '{"turn_id":{"a":1},"root_turn_id":"/home/me","request_kind":"constructor"}',
    '{"turn_id":"x","workspaces":{"/home/me/secret":{}},"thread_source":"user"}',
  ],
  "x-codex-parent-thread-id": ["/home/me/secret"],
  "x-openai-subagent": ["my secret plan", "review"],
  "thread-id": ["my secret plan"],
  "x-parent-session-id": ["ses_e02da451bffeKvhkfCzkVl6Zei", "/home/me"],
  "x-session-id": ["my secret plan"],
  "x-interaction-type": ["conversation-user", "my secret plan"],
  "session-id": ["s2"],
  session_id: ["s3"],
};

const header: fc.Arbitrary<Header> = fc.oneof(
  ...Object.entries(VALUES).map(([name, values]) =>
    fc.tuple(fc.constant(name), fc.oneof(fc.constantFrom(...values), headerValue)),
  ),
);

/** Each name once: with two the gate refuses the request or takes the first one. */
const headers = fc.uniqueArray(header, { selector: ([name]) => name });

/** The claim that does not depend on the signatures: path, then token, then header (docs/wire.md section 2). */
function claimOf(mark: string | null, list: readonly Header[]): Pick<ToolIdentity, "tool" | "by"> | null {
  if (mark !== null) return { tool: mark, by: "path" };
  const value = (name: string) => list.find(([other]) => other === name)?.[1] ?? "";
  const bearer = /^bearer +(.+)$/i.exec(value("authorization"))?.[1] ?? "";
  const token = [bearer, value("x-api-key")]
    .flatMap((credential) => (credential.startsWith("tk-") ? [credential.slice(3).toLowerCase()] : []))
    .find((name) => NAME.test(name));
  if (token !== undefined) return { tool: token, by: "token" };
  const named = value("x-tollkeeper-tool").toLowerCase();
  return NAME.test(named) ? { tool: named, by: "header" } : null;
}

/** What `readAgent` may return of an id: what is random, and what was concealed. */
const AGENT_ID = /^(?:concealed|[0-9a-f-]{6,64}|ses_[0-9A-Za-z]{16,64})$/i;

/** The same as a message on a WebSocket has it. */
function messageOf(list: readonly Header[]): MessageIds {
  return Object.fromEntries(
    list.map(([name, value]) => [name.toLowerCase().replace("thread-id", "thread_id"), value]),
  );
}

function identify(mark: string | null, list: readonly Header[]): ToolIdentity {
  return identifyTool(mark, new HeaderIndex(flatten(list)), REQUEST_SIGNATURES);
}

export const TOOLS: readonly Property[] = [
  property(
    "tool: the strongest claim decides the name, and without a claim it comes from the signatures",
    { batch: 800 },
    fc.property(fc.option(fc.constantFrom("codex", "x")), headers, (mark, list) => {
      const { tool, by, session } = identify(mark, list);
      const claim = claimOf(mark, list);
      if (claim !== null) assert.deepEqual({ tool, by }, claim);
      else if (by === "unknown") assert.equal(tool, "unknown");
      else assert.ok(KNOWN.has(tool) && ["signature", "library"].includes(by));
      assert.match(tool, NAME);
      assert.ok(session === null || list.some(([, value]) => value === session));
    }),
  ),
  property(
    "tool: the order, the spelling and other headers do not change the result",
    { batch: 500 },
    fc.property(
      headers.chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
      ),
      fc.array(fc.tuple(headerName, headerValue), { maxLength: 3 }),
      fc.nat(),
      ([list, shuffled], others, cases) => {
        const unknown = others.filter(([name]) => !isEvidence(name));
        const spelled = shuffled.map(([name, value]): Header => [
          cases % 2 === 0 ? name.toUpperCase() : name,
          value,
        ]);
        assert.deepEqual(identify(null, [...spelled, ...unknown]), identify(null, list));
      },
    ),
  ),
  property(
    "tool: of what a client says about its agents, nothing but random ids and known words is kept",
    { batch: 800 },
    fc.property(headers, fc.boolean(), (list, isMessage) => {
      const message = isMessage ? messageOf(list) : null;
      const facts = readAgent(new HeaderIndex(flatten(list)), message, () => "concealed");
      for (const id of [facts.agent, facts.agent_parent, facts.turn])
        assert.match(id ?? "concealed", AGENT_ID);
      assert.ok(facts.agent_kind === null || AGENT_KINDS.includes(facts.agent_kind));
      assert.ok(facts.agent_parent !== facts.agent || facts.agent === null);
      assert.ok(facts.agent_parent === null || facts.agent !== null);
    }),
  ),
  property(
    "tool: a parsed name is valid and parsing it again changes nothing",
    { batch: 300 },
    fc.property(
      fc.oneof(respell(fc.stringMatching(/^[a-z0-9._-]{1,66}$/)), fc.string({ unit: "binary" })),
      (text) => {
        const name = parseToolName(text);
        if (name === null) return;
        assert.match(name, NAME);
        assert.equal(parseToolName(name), name);
      },
    ),
  ),
];

function isEvidence(name: string): boolean {
  const lower = name.toLowerCase();
  const inTable = [...REQUEST_SIGNATURES.tools, ...REQUEST_SIGNATURES.libraries].some(
    ({ when, without }) => when.some(([other]) => other === lower) || without.includes(lower),
  );
  return inTable || lower in VALUES || ["x-session-id", "thread-id"].includes(lower);
}
