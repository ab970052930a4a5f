import assert from "node:assert/strict";
import { test } from "node:test";
import { createReading } from "../../../src/core/usage/usage-format.ts";
import { prepareExchanges } from "./start-exchange.ts";

/** Starts one exchange. */
function startExchange() {
  const { start, ...rest } = prepareExchanges();
  return { exchange: start(), ...rest };
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
