import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { buildRouteTable, routesOf } from "../../../src/core/http/routes.ts";
import { nothingLearned } from "../../../src/core/usage/dialect.ts";
import { RequestIdentity } from "../../../src/proxy/request-identity.ts";
import { Exchange } from "../../../src/proxy/exchange/exchange.ts";
import { prepareSettings } from "../../../src/proxy/settings.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";
import { MemoryLedger, StillClock } from "../../helpers/gate/memory.ts";

/** An exchange on `POST /messages`, and where its record goes. */
function startExchange() {
  const match = buildRouteTable(routesOf(upstreamAt("http://127.0.0.1:1/v1"))).find("POST", "/v1/messages");
  assert.ok(match !== null && "route" in match);
  const [ledger, clock] = [new MemoryLedger(), new StillClock()];
  const upstreams = { default: upstreamAt("http://127.0.0.1:1/v1") };
  const identity = { tool: "codex", by: "path", session: null } as const;
  const head = {
    caller: new RequestIdentity(
      identity,
      { process: null, project: null },
      prepareSettings({ ...defaultConfig, upstreams }),
    ),
    userAgent: null,
    route: match.route,
    contentEncoding: null,
  } as const;
  return { exchange: new Exchange(head, ledger, clock), ledger, clock };
}

const COMPLETED = { ...nothingLearned("completed", "absent"), spend: "never" } as const;

test("an exchange that is recorded more than once leaves the first record alone", async () => {
  const { exchange, ledger } = startExchange();
  exchange.record(COMPLETED, null);
  exchange.record({ ...COMPLETED, outcome: "cut" }, "client");
  exchange.recordUnanswered("rejected", "internal", null);
  assert.equal((await ledger.only()).outcome, "completed");
});

test("an exchange that was recorded without an answer gets none any more", async () => {
  const { exchange, ledger } = startExchange();
  exchange.recordUnanswered("cut", null, "client");
  exchange.record(COMPLETED, null);
  const { outcome, cut_by } = await ledger.only();
  assert.deepEqual([outcome, cut_by], ["cut", "client"]);
});

test("who cut an exchange stands in the record of one that was cut, and in no other", async () => {
  const { exchange, ledger } = startExchange();
  exchange.record(COMPLETED, "upstream");
  assert.equal((await ledger.only()).cut_by, null);
});

test("the time to the first content is that of the first, however often it is seen", async () => {
  const { exchange, ledger, clock } = startExchange();
  clock.advance(30);
  exchange.sawFirstContent();
  clock.advance(12.34);
  exchange.sawFirstContent();
  exchange.record(COMPLETED, null);
  const { ttft_ms, duration_ms } = await ledger.only();
  assert.deepEqual([ttft_ms, duration_ms], [30, 42.3]);
});
