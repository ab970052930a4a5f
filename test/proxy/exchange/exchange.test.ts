import assert from "node:assert/strict";
import { test } from "node:test";
import { prepareExchanges, recordCompleted } from "./start-exchange.ts";

/** Starts one exchange. */
function startExchange() {
  const { start, ...rest } = prepareExchanges();
  return { exchange: start(), ...rest };
}

test("an exchange that has been recorded leaves no second record", async () => {
  const { exchange, ledger } = startExchange();
  recordCompleted(exchange);
  exchange.recordCut(null, "client");
  exchange.recordRefusal("internal", 400, null);
  assert.equal((await ledger.only()).outcome, "completed");
});

test("an exchange is among the running ones until it is recorded, by whatever it is ended", async () => {
  const { exchange, ledger, running } = startExchange();
  assert.equal(running.size, 1);
  running.abort();
  const { outcome, cut_by } = await ledger.only();
  assert.deepEqual([outcome, cut_by, running.size], ["cut", "proxy", 0]);
  recordCompleted(exchange);
  assert.equal(running.size, 0);
});

test("an exchange recorded without a response ignores a response that comes later", async () => {
  const { exchange, ledger } = startExchange();
  exchange.recordCut(null, "client");
  recordCompleted(exchange);
  const { outcome, cut_by } = await ledger.only();
  assert.deepEqual([outcome, cut_by], ["cut", "client"]);
});

test("`cut_by` is null in the record of an exchange that was not cut", async () => {
  const { exchange, ledger } = startExchange();
  recordCompleted(exchange);
  assert.equal((await ledger.only()).cut_by, null);
});

test("the time to first token is measured at the first content and not at later content", async () => {
  const { exchange, ledger, clock } = startExchange();
  clock.advance(30);
  exchange.sawFirstContent();
  clock.advance(12.34);
  exchange.sawFirstContent();
  recordCompleted(exchange);
  const { ttft_ms, duration_ms } = await ledger.only();
  assert.deepEqual([ttft_ms, duration_ms], [30, 42.3]);
});
