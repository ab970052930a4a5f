// C15: 77 pairs of an address and a credential, with what becomes of each. A plan's service sees nothing but its own login, and an upstream
// that takes a key nothing but that key. Whatever else comes is refused, and nothing leaves.
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
import { post, TEST_KEY, waitUntilHandled } from "../helpers/gate/gate.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
const ANTHROPIC_KEY = "sk-ant-api03-sentinel-key-4711-do-not-leak";
const OPENAI_KEY = "sk-proj-sentinel4711keydonotleak00";
const SIGNATURE = "c2VudGluZWwtc2lnbmF0dXJl.4711";

/** What may never be in a record, a line of the log, or a message of ours. */
const SENTINELS = [
  CLAUDE_LOGIN,
  CHATGPT_LOGIN,
  CHATGPT_ACCOUNT,
  ANTHROPIC_KEY,
  OPENAI_KEY,
  SIGNATURE,
  TEST_KEY,
];

const CREDENTIALS: Readonly<Record<string, Record<string, string>>> = {
  nothing: {},
  "a placeholder": { authorization: "Bearer tollkeeper" },
  "a tool's placeholder": { "x-api-key": "tk-claude-code" },
  "a key of Anthropic": { "x-api-key": ANTHROPIC_KEY },
  "a key of OpenAI": { authorization: `Bearer ${OPENAI_KEY}` },
  "the login of Claude": CLAUDE_HEADERS,
  "the login of ChatGPT": CHATGPT_HEADERS,
  "a token without its account": { authorization: CHATGPT_HEADERS.authorization },
  "an agent's signature": { authorization: `AgentAssertion ${SIGNATURE}` },
  "the login of Claude beside a key": { ...CLAUDE_HEADERS, "x-api-key": ANTHROPIC_KEY },
  "the login of ChatGPT beside a key": { ...CHATGPT_HEADERS, "api-key": OPENAI_KEY },
};

/** `plan`: passes to the plan's service with its login. `key`: passes to the upstream with the stored key. `-`: refused. */
type Outcome = "plan" | "key" | "-";

/** In the order of the credentials. A token without its account is no login, so it is stripped where a key pays, as any other. */
const ADDRESSES: Readonly<Record<string, string>> = {
  "/t/claude-code/plan/v1/messages": "- - - - - plan - - - - -",
  "/t/claude-code/plan/v1/messages/count_tokens": "- - - - - plan - - - - -",
  "/t/codex/plan/v1/responses": "- - - - - - plan - plan - -",
  "/t/codex/plan/v1/some/new/path": "- - - - - - plan - plan - -",
  "/t/claude-code/v1/messages": "key key key key key - - key - - -",
  "/t/codex/v1/responses": "key key key key key - - key - - -",
  "/v1/messages": "key key key key key - - key - - -",
};

for (const [address, outcomes] of Object.entries(ADDRESSES))
  test(`${address} takes what belongs there, and nothing else`, async (t) => {
    const { gate, service, upstream } = await startGateWithPlans(t, respondWithMessage);
    const expected = outcomes.split(" ") as Outcome[];
    assert.equal(expected.length, Object.keys(CREDENTIALS).length);
    let texts = "";
    for (const [at, [name, headers]] of Object.entries(CREDENTIALS).entries()) {
      const [atService, atUpstream, reads] = [service.seen.length, upstream.seen.length, gate.keys.reads];
      const response = await post(gate, address, BODY, headers);
      texts += await response.text();
      const outcome: Outcome =
        service.seen.length > atService ? "plan" : upstream.seen.length > atUpstream ? "key" : "-";
      assert.equal(outcome, expected[at], name);
      assert.equal(response.ok, outcome !== "-", name);
      if (outcome === "-") {
        assert.equal(response.headers.get("x-tollkeeper-refusal"), "plan_login", name);
        assert.ok(response.status !== 401, name);
      }
      const sent = JSON.stringify((outcome === "plan" ? service : upstream).seen.at(-1)?.rawHeaders ?? []);
      const mayCarry =
        outcome === "plan"
          ? Object.values(headers).map((value) => value.replace(/^(?:Bearer|AgentAssertion) /, ""))
          : [TEST_KEY];
      for (const secret of outcome === "-" ? [] : SENTINELS)
        assert.equal(sent.includes(secret), mayCarry.includes(secret), `${name}: ${secret}`);
      if (outcome !== "key") assert.equal(gate.keys.reads, reads, name);
    }
    await waitUntilHandled(gate);
    const shown = JSON.stringify([gate.ledger.records, gate.log.lines]) + texts;
    for (const secret of SENTINELS) assert.ok(!shown.includes(secret), secret);
  });
