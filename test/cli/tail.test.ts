import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/record.ts";
import { startDaemon, type Daemon } from "../helpers/daemon.ts";
import { post } from "../helpers/gate.ts";
import { PROGRAM } from "../helpers/program.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };

/** `tollkeeper tail` beside a daemon, once it waits; `lines` is its standard output. */
async function startTail(t: TestContext, { home }: Daemon, ...args: string[]) {
  const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: `${home}/run`, XDG_STATE_HOME: `${home}/state` };
  const child = spawn(process.execPath, [PROGRAM, "tail", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const notes = createInterface(child.stderr)[Symbol.asyncIterator]();
  assert.equal((await notes.next()).value, "waiting for exchanges; Ctrl-C ends this");
  return { child, notes, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
}

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

test("--json has the records as they stand in the ledger; the end of the daemon is told", async (t) => {
  const daemon = await startDaemon(t);
  const { child, notes, lines } = await startTail(t, daemon, "--json");
  await (await post(daemon, "/v1/messages", BODY)).text();
  const record = JSON.parse(String((await lines.next()).value)) as UsageRecord;
  assert.deepEqual([record], await daemon.ledger());
  const ended = once(child, "exit");
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
