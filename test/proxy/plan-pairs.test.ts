// Every pair of an address and a credential: which account pays, or that nothing leaves.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CHATGPT_ACCOUNT,
  CHATGPT_HEADERS,
  CHATGPT_LOGIN,
  CLAUDE_HEADERS,
  CLAUDE_LOGIN,
  startGateWithPlans,
} from "../helpers/gate/gate-with-plans.ts";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";

const ANTHROPIC_KEY = "sk-ant-api03-sentinel-key-of-a-tool-0815";
const OPENAI_KEY = "sk-proj-sentinel-key-of-a-tool-0816";
const SIGNATURE = "c2VudGluZWwtc2lnbmF0dXJl.0817";

const CREDENTIALS: Record<string, Record<string, string>> = {
  none: {},
  "a placeholder": { authorization: "Bearer tollkeeper" },
  "a placeholder in x-api-key": { "x-api-key": "tollkeeper" },
  "Anthropic's key": { authorization: `Bearer ${ANTHROPIC_KEY}` },
  "Anthropic's key in x-api-key": { "x-api-key": ANTHROPIC_KEY },
  "OpenAI's key": { authorization: `Bearer ${OPENAI_KEY}` },
  "Claude's login": CLAUDE_HEADERS,
  "Claude's login and a key": { ...CLAUDE_HEADERS, "x-api-key": ANTHROPIC_KEY },
  "ChatGPT's login": CHATGPT_HEADERS,
  "ChatGPT's token alone": { authorization: CHATGPT_HEADERS.authorization },
  "an agent's signature": { authorization: `AgentAssertion ${SIGNATURE}` },
  "Claude's login with ChatGPT's account": { ...CLAUDE_HEADERS, "chatgpt-account-id": CHATGPT_ACCOUNT },
};

/** For each credential, in their order: `K` the key pays, `P` the plan does, `-` plan_login, `o` plan_off. */
const OUTCOMES: [path: string, outcomes: string][] = [
  ["/t/claude-code/v1/messages", "KKKKKK---K--"],
  ["/t/codex/v1/responses", "KKKKKK---K--"],
  ["/t/claude-code/plan/v1/messages", "------P----P"],
  ["/t/codex/plan/v1/responses", "--------P-P-"],
  ["/t/opencode/plan/v1/messages", "oooooooooooo"],
];

const SECRETS = [
  TEST_KEY,
  ANTHROPIC_KEY,
  OPENAI_KEY,
  SIGNATURE,
  CLAUDE_LOGIN,
  CHATGPT_LOGIN,
  CHATGPT_ACCOUNT,
];

for (const [path, outcomes] of OUTCOMES)
  test(`${path}: who pays for a request with each credential`, async (t) => {
    const { gate, service, upstream } = await startGateWithPlans(t, respondWithMessage);
    let [seen, texts] = ["", ""];
    for (const headers of Object.values(CREDENTIALS)) {
      const [keys, plans] = [upstream.seen.length, service.seen.length];
      const response = await post(gate, path, { model: "claude-sonnet-5", max_tokens: 1 }, headers);
      texts += JSON.stringify([...response.headers]) + (await response.text());
      if (upstream.seen.length > keys) seen += "K";
      else if (service.seen.length > plans) seen += "P";
      else seen += response.headers.get("x-tollkeeper-refusal") === "plan_off" ? "o" : "-";
      assert.notEqual(response.status, 401);
    }
    assert.equal(seen, outcomes);
    const written = texts + JSON.stringify([gate.ledger.records, gate.log.lines]);
    assert.deepEqual(
      SECRETS.filter((secret) => written.includes(secret)),
      [],
    );
    const toKeys = JSON.stringify(upstream.seen.map(({ rawHeaders }) => rawHeaders));
    const toPlans = JSON.stringify(service.seen.map(({ rawHeaders }) => rawHeaders));
    assert.deepEqual(
      [
        SECRETS.filter((secret) => secret !== TEST_KEY && toKeys.includes(secret)),
        [TEST_KEY, ANTHROPIC_KEY, OPENAI_KEY].filter((secret) => toPlans.includes(secret)),
      ],
      [[], []],
    );
  });
