import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { askDaemon } from "../../src/adapters/control-socket.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { rawClient, rawRequest } from "../helpers/client/raw-client.ts";
import { MESSAGE_EVENTS, startHeldUpstream } from "../helpers/upstream/scripted-upstream.ts";

/** A daemon through which a stream runs: the first event has reached the client, the rest is the test's to send. */
async function startStream(t: TestContext, limits: object = {}, abort: object = {}) {
  const { upstream, held } = await startHeldUpstream(t);
  const { config } = keyInFile(t, upstream.baseUrl, "some-key");
  const daemon = await startDaemon(t, { config: { ...config, limits, abort } });
  const client = await rawClient(t, daemon.port);
  client.write(rawRequest(daemon.port));
  const answer = await held;
  answer.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  return { daemon, client, answer };
}

/** How a new connection begins: `connected`, or the error code with which it does not. */
function knock(daemon: Daemon, host: string): Promise<unknown> {
  return once(connect(daemon.port, host), "connect").then(
    () => "connected",
    (error: NodeJS.ErrnoException) => error.code,
  );
}

const endings = async (daemon: Daemon) =>
  (await daemon.ledger()).map(({ outcome, cut_by, usage }) => [outcome, cut_by, usage]);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal}: a running stream ends whole and recorded, new connections are refused, exit 0`, async (t) => {
    const { daemon, client, answer } = await startStream(t);
    process.kill(daemon.pid, signal);
    await daemon.until(/"open":1,"msg":"stopping/);
    assert.equal(await knock(daemon, "127.0.0.1"), "ECONNREFUSED");
    assert.equal(await knock(daemon, "::1"), "ECONNREFUSED");
    for (const event of MESSAGE_EVENTS.slice(1)) answer.write(event);
    answer.end();
    assert.match(await client.closed, /message_stop[^]*\r\n0\r\n\r\n$/);
    assert.equal(await daemon.ended, 0);
    assert.deepEqual(await endings(daemon), [["completed", null, "final"]]);
  });
}

test("while it drains the daemon still answers `status`", async (t) => {
  const { daemon, client, answer } = await startStream(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.until(/"msg":"stopping/);
  assert.equal((await daemon.status()).openExchanges, 1);
  answer.end();
  await client.closed;
});

test("a connection that is idle, or has said nothing at all, does not hold up the stop", async (t) => {
  const daemon = await startDaemon(t);
  const [idle, silent] = [await rawClient(t, daemon.port), await rawClient(t, daemon.port)];
  idle.write(`HEAD / HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\n\r\n`);
  await idle.until(/200 OK/);
  assert.equal(await daemon.stop(), 0);
  assert.equal(await silent.closed, "");
});

test("a stream that outlives the drain limit is cut by the proxy and recorded, exit 0", async (t) => {
  const { daemon, client } = await startStream(t, { drainMs: 50 });
  assert.equal(await daemon.stop(), 0);
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  assert.deepEqual(await endings(daemon), [["cut", "proxy", "partial"]]);
});

test("a second signal stops at once: the stream is cut and recorded, exit 0", async (t) => {
  const { daemon, client } = await startStream(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.until(/"msg":"stopping; /);
  assert.equal(await daemon.stop(), 0);
  assert.match(daemon.stderr(), /"msg":"stopping at once"/);
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  assert.deepEqual(await endings(daemon), [["cut", "proxy", "partial"]]);
});

test("the control socket's order to drain is no signal: a second one cuts nothing", async (t) => {
  const { daemon, client, answer } = await startStream(t);
  const control = join(daemon.home, "run", "tollkeeper", "control.sock");
  assert.deepEqual([await askDaemon(control, "drain"), await askDaemon(control, "drain")], [true, true]);
  for (const event of MESSAGE_EVENTS.slice(1)) answer.write(event);
  answer.end();
  assert.match(await client.closed, /message_stop[^]*\r\n0\r\n\r\n$/);
  assert.equal(await daemon.ended, 0);
  assert.deepEqual(await endings(daemon), [["completed", null, "final"]]);
});

test("while one stops, `status` exits 1, and another start is told to wait for it", async (t) => {
  const { daemon, client, answer } = await startStream(t);
  process.kill(daemon.pid, "SIGTERM");
  await daemon.until(/"msg":"stopping/);
  const { code, stdout } = await daemon.command("status");
  assert.equal(code, 1);
  assert.match(stdout, /^daemon .*, stopping$/m);
  assert.deepEqual(await daemon.command("serve"), {
    code: 1,
    stdout: "",
    stderr: `error: tollkeeper is still stopping: pid ${daemon.pid} waits for 1 open exchanges\nhint: wait for it, and start again\n`,
  });
  answer.end();
  await client.closed;
});

test("the stop waits for an upstream that still has its grace to tell the usage", async (t) => {
  const { daemon, client, answer } = await startStream(t, {}, { graceMs: 20_000 });
  client.socket.destroy();
  await client.closed;
  process.kill(daemon.pid, "SIGTERM");
  await daemon.until(/"open":1,"msg":"stopping/);
  answer.end(MESSAGE_EVENTS.slice(1).join(""));
  assert.equal(await daemon.ended, 0);
  const [record] = await daemon.ledger();
  assert.deepEqual([record?.usage, record?.tokens?.output], ["final", 2]);
});
