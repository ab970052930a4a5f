import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { post } from "../../helpers/gate/gate.ts";
import { startTail } from "../../helpers/daemon/tail.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

test("each exchange is a line when it ends: tool, route, model, outcome, tokens", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  assert.match(
    String((await lines.next()).value),
    /^\d\d:\d\d:\d\d {2}codex {9}POST \/messages {2}claude-sonnet-5 {2}200 completed {2}\d+ in, \d+ out {2}[\d.]+ s$/,
  );
  await (await fetch(`${daemon.url}/v1/models`)).text();
  assert.match(String((await lines.next()).value), / GET \/models {2}200 completed {2}[\d.]+ s$/);
});

test("a model's name cannot put a line of its own among the exchanges", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon);
  const model = "evil\n12:00:00  codex  POST /messages";
  await (await post(daemon, "/t/codex/v1/messages", { ...BODY, model })).text();
  assert.match(String((await lines.next()).value), /^\d\d:\d\d:\d\d {2}codex .*evil\\u000a12:00:00 /);
});

test("--json has the records as they stand in the ledger; the end of the daemon is told", async (t) => {
  const daemon = await startDaemon(t);
  const { ended, notes, lines } = await startTail(t, daemon, "--json");
  await (await post(daemon, "/v1/messages", BODY)).text();
  const record = JSON.parse(String((await lines.next()).value)) as UsageRecord;
  assert.deepEqual([record], await daemon.ledger());
  await daemon.stop();
  assert.equal((await notes.next()).value, "the daemon has stopped");
  assert.deepEqual(await ended, [0, null]);
});

test("without a daemon there is nothing to see", async (t) => {
  const daemon = await startDaemon(t);
  await daemon.stop();
  assert.deepEqual(await daemon.command("tail"), {
    code: 1,
    stdout: "",
    stderr:
      "error: tollkeeper is not running\nhint: start it with: tollkeeper service start; or in the foreground: tollkeeper serve\n",
  });
});
