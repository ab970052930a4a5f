import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { createReading } from "../../../src/core/usage/usage-format.ts";
import { ClientIdentity } from "../../../src/proxy/authenticate-client.ts";
import { ExchangeRecorder } from "../../../src/proxy/exchange/exchange-recorder.ts";
import { RunningExchanges } from "../../../src/proxy/exchange/running-exchanges.ts";
import { prepareSettings } from "../../../src/proxy/settings.ts";
import { TokenRegistry } from "../../../src/proxy/token-registry.ts";
import { REQUEST_SIGNATURES } from "../../../src/tools/all.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";
import { MemoryLedger, MemoryLog, MemoryTokens, ManualClock } from "../../helpers/gate/memory.ts";

/** An exchange on `POST /messages` whose record goes to a ledger in memory. */
function startExchange() {
  const [ledger, clock] = [new MemoryLedger(), new ManualClock()];
  const upstreams = { default: upstreamAt("http://127.0.0.1:1/v1") };
  const settings = prepareSettings({ ...defaultConfig, upstreams });
  const { upstream, key } = settings.defaultDestination;
  const match = upstream.table.find("POST", "/v1/messages");
  assert.ok(match !== null && "route" in match);
  const tokens = new TokenRegistry(new MemoryTokens(), new MemoryLog());
  const peer = { process: null, project: null };
  const evidence = {
    mark: "codex",
    headers: new HeaderIndex([]),
    peer,
    mode: "open",
    signatures: REQUEST_SIGNATURES,
  } as const;
  const head = {
    client: new ClientIdentity(evidence, tokens),
    choice: { upstream, key, route: match.route, path: "/v1/messages" },
    settings,
    userAgent: null,
    contentEncoding: null,
  };
  const running = new RunningExchanges();
  return { exchange: new ExchangeRecorder(head, { ledger, running, clock }), ledger, clock, running };
}

const COMPLETED = { ...createReading("completed", "absent"), spend: "never" } as const;

test("an exchange that has been recorded leaves no second record", async () => {
  const { exchange, ledger } = startExchange();
  exchange.record(COMPLETED, null);
  exchange.record({ ...COMPLETED, outcome: "cut" }, "client");
  exchange.recordUnanswered("rejected", "internal", null);
  assert.equal((await ledger.only()).outcome, "completed");
});

test("an exchange is among the running ones until it is recorded, by whatever it is ended", async () => {
  const { exchange, ledger, running } = startExchange();
  assert.equal(running.size, 1);
  running.abort();
  const { outcome, cut_by } = await ledger.only();
  assert.deepEqual([outcome, cut_by, running.size], ["cut", "proxy", 0]);
  exchange.record(COMPLETED, null);
  assert.equal(running.size, 0);
});

test("an exchange recorded without a response ignores a response that comes later", async () => {
  const { exchange, ledger } = startExchange();
  exchange.recordUnanswered("cut", null, "client");
  exchange.record(COMPLETED, null);
  const { outcome, cut_by } = await ledger.only();
  assert.deepEqual([outcome, cut_by], ["cut", "client"]);
});

test("`cut_by` is null in the record of an exchange that was not cut", async () => {
  const { exchange, ledger } = startExchange();
  exchange.record(COMPLETED, "upstream");
  assert.equal((await ledger.only()).cut_by, null);
});

test("the time to first token is measured at the first content and not at later content", async () => {
  const { exchange, ledger, clock } = startExchange();
  clock.advance(30);
  exchange.sawFirstContent();
  clock.advance(12.34);
  exchange.sawFirstContent();
  exchange.record(COMPLETED, null);
  const { ttft_ms, duration_ms } = await ledger.only();
  assert.deepEqual([ttft_ms, duration_ms], [30, 42.3]);
});
