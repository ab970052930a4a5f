import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { post } from "../../helpers/gate/gate.ts";
import { startTail } from "../../helpers/daemon/tail.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

test("tail prints a line when an exchange ends: tool, route, model, outcome, tokens", async (t) => {
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

test("tail escapes line ends in a model's name", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon);
  const model = "evil\n12:00:00  codex  POST /messages";
  await (await post(daemon, "/t/codex/v1/messages", { ...BODY, model })).text();
  assert.match(String((await lines.next()).value), /^\d\d:\d\d:\d\d {2}codex .*evil\\u000a12:00:00 /);
});

test("tail --json prints the records of the ledger, and tail says when the daemon has stopped", async (t) => {
  const daemon = await startDaemon(t);
  const { ended, notes, lines } = await startTail(t, daemon, "--json");
  await (await post(daemon, "/v1/messages", BODY)).text();
  const record = JSON.parse(String((await lines.next()).value)) as UsageRecord;
  assert.deepEqual([record], await daemon.ledger());
  await daemon.stop();
  assert.equal((await notes.next()).value, "the daemon has stopped");
  assert.deepEqual(await ended, [0, null]);
});

test("tail without a running daemon fails and says how to start it", async (t) => {
  const daemon = await startDaemon(t);
  await daemon.stop();
  const { code, stdout, stderr } = await daemon.command("tail");
  assert.deepEqual([code, stdout], [1, ""]);
  // The command depends on the service manager of this machine.
  assert.match(stderr, /^error: tollkeeper is not running\nhint: [^]*tollkeeper serve/);
});

test("tail shows requests that are refused, with a record or without one, as refused", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t);
  const { lines } = await startTail(t, daemon);
  await (await post(daemon, "/t/codex/v1/moderations?key=secret", BODY)).text();
  assert.match(
    String((await lines.next()).value),
    /^\d\d:\d\d:\d\d {2}codex {9}POST \/t\/codex\/v1\/moderations {2}404 refused by tollkeeper \(not_found\)$/,
  );
  rmSync(keyFile.path);
  await (await post(daemon, "/v1/messages", BODY)).text();
  assert.match(
    String((await lines.next()).value),
    /POST \/messages {2}402 refused by tollkeeper \(key_unavailable\)  [\d.]+ s$/,
  );
});

test("tail --json prints a refusal without a record as an object of its own", async (t) => {
  const daemon = await startDaemon(t);
  const { lines } = await startTail(t, daemon, "--json");
  await (await post(daemon, "/v1/moderations", BODY)).text();
  const { ts, ...refusal } = JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  assert.ok(Date.parse(String(ts)) > 0);
  const expected = {
    refused: "not_found",
    status: 404,
    tool: "unknown",
    method: "POST",
    path: "/v1/moderations",
  };
  assert.deepEqual(refusal, expected);
  assert.deepEqual(await daemon.ledger(), []);
});
