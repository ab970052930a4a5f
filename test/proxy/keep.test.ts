// A brake that keeps a share of a service's limits: its tool waits as for the service itself, until the window has reset.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DaemonLimits } from "../../src/daemon/limits.ts";
import { isTerminal } from "../helpers/client/websocket.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { CLAUDE_HEADERS, startGateWithPlans } from "../helpers/gate/gate-with-plans.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { CREATE, openThroughGate } from "../helpers/gate/gate-with-websocket.ts";
import { post, type TestGate } from "../helpers/gate/gate.ts";
import { ManualClock, MemoryLog } from "../helpers/gate/memory.ts";
import { RecordingBudgets } from "../helpers/gate/recording-budgets.ts";
import { respondWithMessage, sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const LIMIT = { timeout: 300_000 };
const HOUR_S = 3_600;
const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
const NIGHTLY = "/t/nightly/v1/messages";
const ZED = "/t/zed/v1/messages";
const RULES = rulesForTools({ tools: { nightly: { brake: { keep: 10 } } } });

function start(t: TestContext) {
  const clock = new ManualClock();
  const limits = new DaemonLimits({ path: "", clock, log: new MemoryLog(), warn: () => {} });
  t.after(() => limits.close());
  /** Responds with these shares of the 5-hour window, one after the other; then with none. */
  const withShares =
    (...shares: string[]): Script =>
    (request, res) => {
      const share = shares.shift();
      if (share !== undefined) {
        res.setHeader("anthropic-ratelimit-unified-5h-utilization", share);
        res.setHeader("anthropic-ratelimit-unified-5h-reset", String(clock.now() / 1000 + HOUR_S));
      }
      return respondWithMessage(request, res);
    };
  return { clock, limits, withShares };
}

/** Sends a request and returns the code of its refusal, or its status. */
async function send(
  gate: TestGate,
  path: string,
  headers: Record<string, string> = {},
): Promise<string | number> {
  const response = await post(gate, path, BODY, headers);
  await response.text();
  return response.headers.get("x-tollkeeper-refusal") ?? response.status;
}

test(
  "a tool waits while less than its share is left, others go on, and a lower value or the reset opens it",
  LIMIT,
  async (t) => {
    const { clock, limits, withShares } = start(t);
    const script = withShares("0.89", "0.91", "0.50", "0.97");
    const { gate, upstream } = await startGateWithUpstream(t, script, { config: RULES, clock, limits });
    assert.deepEqual([await send(gate, NIGHTLY), await send(gate, NIGHTLY)], [200, 200]);
    const refused = await post(gate, NIGHTLY, BODY);
    assert.deepEqual(
      [refused.status, refused.headers.get("retry-after"), refused.headers.get("x-should-retry")],
      [429, "3600", null],
    );
    const { error } = (await refused.json()) as { error: { type: string; message: string } };
    assert.equal(error.type, "rate_limit_error");
    assert.match(
      error.message,
      /^tollkeeper: nightly waits for the 5-hour window of default: 9% of it is left, by the last response, and tools\.nightly\.brake\.keep keeps 10%\. It resets .* Type: tollkeeper brake remove nightly$/,
    );
    assert.equal(await send(gate, "/t/nightly/v1/messages/count_tokens"), 200);
    assert.equal(await send(gate, NIGHTLY), 200, "the free request had a lower value");
    assert.equal(await send(gate, NIGHTLY), "limit_kept");
    assert.equal(await send(gate, ZED), 200);
    assert.equal(upstream.seen.length, 5);
    clock.advance(HOUR_S * 1000);
    assert.equal(await send(gate, NIGHTLY), 200);
    const rejected = gate.ledger.records.filter(({ outcome }) => outcome === "rejected");
    assert.deepEqual(
      rejected.map(({ status, error_type, tool }) => [status, error_type, tool]),
      [
        [429, "limit_kept", "nightly"],
        [429, "limit_kept", "nightly"],
      ],
    );
  },
);

test(
  "the brake of a plan's tool asks what is left of the plan, and that of a key what is left of the key",
  LIMIT,
  async (t) => {
    const { clock, limits, withShares } = start(t);
    const config = rulesForTools({ tools: { "claude-code": { brake: { keep: 10 } } } });
    const { gate, service } = await startGateWithPlans(t, withShares("0.95"), {
      config: { ...config, plans: ["claude-code"] },
      clock,
      limits,
    });
    const [plan, key] = ["/t/claude-code/plan/v1/messages", "/t/claude-code/v1/messages"];
    assert.equal(await send(gate, plan, CLAUDE_HEADERS), 200);
    const refused = await post(gate, plan, BODY, CLAUDE_HEADERS);
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "3600"]);
    assert.match(await refused.text(), /5-hour window of plan:claude/);
    assert.equal(service.seen.length, 1);
    assert.equal(await send(gate, key), 200);
  },
);

test("a fallback is asked only where enough is left of its account", LIMIT, async (t) => {
  const { clock, limits, withShares } = start(t);
  const { gate, upstreams } = await startGateWithUpstreams(
    t,
    {
      main: { script: (_seen, res) => sendJson(res, {}, 529), settings: { fallback: ["spare"] } },
      spare: { script: withShares("0.95") },
    },
    { clock, limits },
  );
  useConfig(gate, RULES);
  assert.deepEqual([await send(gate, NIGHTLY), await send(gate, NIGHTLY)], [200, "limit_kept"]);
  assert.deepEqual([upstreams.main.seen.length, upstreams.spare.seen.length], [2, 1]);
});

test("nothing is reserved of a budget for a request that waits", LIMIT, async (t) => {
  const { clock, limits, withShares } = start(t);
  const budgets = new RecordingBudgets();
  const config = rulesForTools({
    tools: { nightly: { brake: { keep: 10 }, budgets: [{ usd: 5, per: "day" }] } },
  });
  const { gate } = await startGateWithUpstream(t, withShares("0.95"), { config, clock, limits, budgets });
  assert.deepEqual([await send(gate, NIGHTLY), await send(gate, NIGHTLY)], [200, "limit_kept"]);
  assert.equal(budgets.asked.length, 1);
});

test(
  "on a WebSocket the refusal is an event of status 400, and after the reset the next message goes",
  LIMIT,
  async (t) => {
    const { clock, limits } = start(t);
    const { client, upstream } = await openThroughGate(t, {
      limits,
      clock,
      config: rulesForTools({ groups: { jobs: { brake: { keep: 10 } } }, tools: { "*": { group: "jobs" } } }),
      headers: {
        "x-codex-primary-used-percent": "97",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-after-seconds": String(HOUR_S),
      },
    });
    client.send(CREATE);
    const refused = await client.until(isTerminal);
    assert.deepEqual([refused.type, refused.status, refused.error?.code], ["error", 400, "limit_kept"]);
    assert.match(refused.error?.message ?? "", / Type: tollkeeper brake remove --group jobs$/);
    assert.equal(upstream.messages.length, 0);
    clock.advance(HOUR_S * 1000);
    client.send(CREATE);
    assert.equal((await client.until(isTerminal)).type, "response.completed");
  },
);
