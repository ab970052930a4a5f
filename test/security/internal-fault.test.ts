import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { post, startGate, TEST_KEY } from "../helpers/gate.ts";
import { answerJson, startUpstream } from "../helpers/upstream.ts";
import { assertNowhere } from "./leak-search.ts";

test("a fault of our own, with the key in hand, is a 500 that says nothing, and a log line without the key", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  // No configuration can have such a path; Node throws on it when the headers with the key are composed already.
  const gate = await startGate(t, upstream.baseUrl, { upstream: { basePath: "/v1\u0100" } });
  const res = await post(gate, "/v1/messages", { model: "m" });
  const body = await res.text();
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [500, "internal"]);
  assert.doesNotMatch(body, /unescaped|at .*\.ts/);
  assert.match(gate.log.lines.join("\n"), /error a request failed for a reason of our own/);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.error_type, record.status], ["rejected", "internal", 500]);
  const logged = inspect(gate.log.facts, { depth: Infinity, showHidden: true });
  assert.match(logged, /ERR_UNESCAPED_CHARACTERS/);
  assertNowhere(TEST_KEY, { body, logged, lines: gate.log.lines.join(), ledger: JSON.stringify(record) });
});
