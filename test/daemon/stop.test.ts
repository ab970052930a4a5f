import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { askDaemon } from "../../src/adapters/control-socket.ts";
import { rawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";
import { startStream } from "./running-stream.ts";

/** Returns `connected`, or the error code of a connection that cannot be opened. */
function tryToConnect(daemon: Daemon, host: string): Promise<unknown> {
  return once(connect(daemon.port, host), "connect").then(
    () => "connected",
    (error: NodeJS.ErrnoException) => error.code,
  );
}

const listOutcomes = async (daemon: Daemon) =>
  (await daemon.ledger()).map(({ outcome, cut_by, usage }) => [outcome, cut_by, usage]);

for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT"] as const) {
  test(`after ${signal} a running stream completes and is recorded, new connections are refused, and the exit code is 0`, async (t) => {
    const { daemon, client, finish } = await startStream(t);
    process.kill(daemon.pid, signal);
    await daemon.waitForOutput(/"open":1,"msg":"stopping/);
    assert.equal(await tryToConnect(daemon, "127.0.0.1"), "ECONNREFUSED");
    assert.equal(await tryToConnect(daemon, "::1"), "ECONNREFUSED");
    await finish();
    assert.match(await client.closed, /message_stop[^]*\r\n0\r\n\r\n$/);
    assert.equal(await daemon.ended, 0);
    assert.deepEqual(await listOutcomes(daemon), [["completed", null, "final"]]);
  });
}

/** Signals that mean nothing to the daemon. Systems other than Linux do not have the last two. */
const IGNORED = ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGIO", "SIGPWR", "SIGSTKFLT"] as const;

test("signals that mean nothing to the daemon leave a running stream and its record whole", async (t) => {
  const { daemon, client, finish } = await startStream(t);
  for (const signal of IGNORED) if (signal in constants.signals) process.kill(daemon.pid, signal);
  assert.equal((await daemon.status()).state, "serving");
  await finish();
  await client.until(/message_stop[^]*\r\n0\r\n\r\n$/);
  assert.deepEqual(await listOutcomes(daemon), [["completed", null, "final"]]);
  assert.equal(await daemon.stop(), 0);
});

test("the control socket still reports the status while the daemon drains", async (t) => {
  const { daemon, client, response } = await startStream(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.waitForOutput(/"msg":"stopping/);
  assert.equal((await daemon.status()).openExchanges, 1);
  response.end();
  await client.closed;
});

test("idle connections, and connections without any request, do not delay the stop", async (t) => {
  const daemon = await startDaemon(t);
  const silent = await rawClient(t, daemon.port);
  const idle = await sendRaw(t, daemon.port, `HEAD / HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`);
  await idle.until(/200 OK/);
  assert.equal(await daemon.stop(), 0);
  assert.equal(await silent.closed, "");
});

test("a stream that outlives the drain limit is cut and recorded as cut by the proxy, and the exit code is 0", async (t) => {
  const { daemon, client } = await startStream(t, { limits: { drainMs: 50 } });
  assert.equal(await daemon.stop(), 0);
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  assert.deepEqual(await listOutcomes(daemon), [["cut", "proxy", "partial"]]);
});

test("a second signal stops at once: the stream is cut and recorded, and the exit code is 0", async (t) => {
  const { daemon, client } = await startStream(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.waitForOutput(/"msg":"stopping; /);
  assert.equal(await daemon.stop(), 0);
  assert.match(daemon.stderr(), /"msg":"stopping at once"/);
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  assert.deepEqual(await listOutcomes(daemon), [["cut", "proxy", "partial"]]);
});

test("a second drain order on the control socket cuts nothing, unlike a second signal", async (t) => {
  const { daemon, client, finish } = await startStream(t);
  const control = join(daemon.home, "run", "tollkeeper", "control.sock");
  assert.deepEqual([await askDaemon(control, "drain"), await askDaemon(control, "drain")], [true, true]);
  await finish();
  assert.match(await client.closed, /message_stop[^]*\r\n0\r\n\r\n$/);
  assert.equal(await daemon.ended, 0);
  assert.deepEqual(await listOutcomes(daemon), [["completed", null, "final"]]);
});

test("while a daemon stops, `status` exits with 1, and another `serve` fails with the advice to wait for it", async (t) => {
  const { daemon, client, response } = await startStream(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.waitForOutput(/"msg":"stopping/);
  const { code, stdout } = await daemon.command("status");
  assert.equal(code, 1);
  assert.match(stdout, /^daemon .*, stopping$/m);
  assert.deepEqual(await daemon.command("serve"), {
    code: 1,
    stdout: "",
    stderr: `error: tollkeeper is still stopping: pid ${daemon.pid}, open requests: 1\nhint: wait until it has stopped, then start again\n`,
  });
  response.end();
  await client.closed;
});

test("the stop waits for an upstream that is in its grace period after the client has disconnected", async (t) => {
  const { daemon, client, response } = await startStream(t, { abort: { graceMs: 20_000 } });
  client.socket.destroy();
  await client.closed;
  process.kill(daemon.pid, "SIGTERM");
  await daemon.waitForOutput(/"open":1,"msg":"stopping/);
  response.end(MESSAGE_EVENTS.slice(1).join(""));
  assert.equal(await daemon.ended, 0);
  const [record] = await daemon.ledger();
  assert.deepEqual([record?.usage, record?.tokens?.output], ["final", 2]);
});

test("a daemon that stops logs how many requests it has refused since the last such line", async (t) => {
  const daemon = await startDaemon(t);
  for (let i = 0; i < 3; i += 1) await fetch(`${daemon.url}/t/codex/v1/realtime`);
  await daemon.stop();
  assert.match(daemon.stderr(), /"msg":"3 requests were refused since [^"]*: not_found 3 \(codex 3\);/);
});
