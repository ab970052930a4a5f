import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { RefusalCode } from "../../../src/core/refusals/refusal.ts";
import { RefusalSummary } from "../../../src/proxy/refusals/summary.ts";
import { holdTime } from "../../helpers/async/hold-time.ts";
import { sendRaw } from "../../helpers/client/raw-client.ts";
import { post, startGate } from "../../helpers/gate/gate.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";
import { freePort } from "../../helpers/process/free-port.ts";

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-11-22T10:00:00Z");

/** Creates a summary with a clock that the test moves. */
function createSummary(t: TestContext) {
  const passTime = holdTime(t);
  const log = new MemoryLog();
  let now = START;
  const summary = new RefusalSummary({ now: () => now, monotonic: () => 0 }, log);
  const pass = (ms: number) => {
    now += ms;
    passTime(ms);
  };
  const count = (times: number, code: RefusalCode, tool: string | null = null) => {
    for (let i = 0; i < times; i += 1) summary.count(code, tool);
  };
  return { summary, log, pass, count };
}

test("an hour after the first refusal one line has counted all by code and tool, the most frequent first", (t) => {
  const { log, pass, count } = createSummary(t);
  pass(25 * 60_000);
  count(1, "host_not_allowed");
  count(2, "key_missing", "qwen-code");
  pass(HOUR_MS - 1);
  count(295, "key_missing", "codex");
  count(2, "not_found", "unknown");
  assert.deepEqual(log.lines, []);
  pass(1);
  assert.deepEqual(log.lines, [
    "info 300 requests were refused since 2026-11-22T10:25:00.000Z: key_missing 297 (codex 295, qwen-code 2), not_found 2, host_not_allowed 1; find the cause with: tollkeeper doctor {}",
  ]);
});

test("an hour without a refusal logs nothing, and the next line starts at zero", (t) => {
  const { log, pass, count } = createSummary(t);
  count(1, "not_found");
  pass(HOUR_MS);
  pass(10 * HOUR_MS);
  assert.equal(log.lines.length, 1);
  count(1, "key_locked", "codex");
  pass(HOUR_MS);
  assert.deepEqual(log.lines.slice(1), [
    "info 1 request was refused since 2026-11-22T21:00:00.000Z: key_locked 1 (codex 1); find the cause with: tollkeeper doctor {}",
  ]);
});

test("at the end the rest is logged, once", (t) => {
  const { summary, log, pass, count } = createSummary(t);
  summary.flush();
  assert.deepEqual(log.lines, []);
  count(3, "token_required", "aider");
  summary.flush();
  summary.flush();
  pass(HOUR_MS);
  assert.equal(log.lines.length, 1);
  assert.match(log.lines[0] ?? "", /^info 3 requests were refused since .*: token_required 3 \(aider 3\);/);
});

test("a client that gives another name with each request makes the line no longer than a few names", (t) => {
  const { log, pass, count } = createSummary(t);
  for (let i = 0; i < 10_000; i += 1) count(1, "not_found", `tool-${i}`);
  count(5, "not_found", "tool-3");
  pass(HOUR_MS);
  const [line = ""] = log.lines;
  assert.match(line, /not_found 10005 \(tool-3 6, tool-0 1, tool-1 1, (?:tool-\d 1, ){4}tool-7 1\);/);
});

test("the gate counts what it refuses at each step, a round trip that fails included, and logs it when it closes", async (t) => {
  const gate = await startGate(t, `http://127.0.0.1:${await freePort()}/v1`);
  await post(gate, "/t/aider/v1/messages", {});
  await post(gate, "/t/codex/v1/realtime", {});
  const foreign = `GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
  await (
    await sendRaw(t, gate.port, foreign)
  ).closed;
  gate.keys.values.clear();
  gate.keyring.forget();
  await post(gate, "/t/codex/v1/responses", {});
  gate.gate.close();
  const summary = gate.log.lines.filter((line) => line.includes("refused since"));
  assert.equal(summary.length, 1);
  assert.match(
    summary[0] ?? "",
    /^info 4 requests were refused since \S+: upstream_unreachable 1 \(aider 1\), not_found 1 \(codex 1\), host_not_allowed 1, key_missing 1 \(codex 1\);/,
  );
});
