import assert from "node:assert/strict";
import { once } from "node:events";
import { openSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { test, type TestContext } from "node:test";
import { bindSockets, type BoundSockets } from "../helpers/process/bound-sockets.ts";
import { launchDaemon, startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { scratchDirectory } from "../helpers/keychain/keychain-session.ts";
import { expectWhole, holdStreams } from "../helpers/client/many-streams.ts";
import { rawClient, rawRequest } from "../helpers/client/raw-client.ts";

const LIMIT = { timeout: 60_000 };

/** A daemon that was handed sockets; the next one has the same home. */
async function startActivated(
  t: TestContext,
  sockets: BoundSockets,
  home: string,
  config = {},
): Promise<Daemon> {
  const start = launchDaemon(home, { config, port: sockets.port, sockets });
  t.after(() => start.kill());
  return start.ready;
}

/** Asks with a connection of its own; resolves with the status. */
async function head(port: number, host: string): Promise<number | undefined> {
  const asked = request({ port, host, path: "/", method: "HEAD", agent: false }).end();
  const [res] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
  res.resume();
  return res.statusCode;
}

test("handed-over sockets are listened on, both of them, and nothing else", LIMIT, async (t) => {
  const sockets = bindSockets(t);
  const daemon = await startActivated(t, sockets, scratchDirectory(t));
  const { port } = sockets;
  assert.deepEqual((await daemon.status()).listening, [`127.0.0.1:${port}`, `[::1]:${port}`]);
  assert.deepEqual([await head(port, "127.0.0.1"), await head(port, "::1")], [200, 200]);
});

test("the address that was not handed over is listened on all the same", LIMIT, async (t) => {
  const sockets = bindSockets(t, ["::1"]);
  const daemon = await startActivated(t, sockets, scratchDirectory(t));
  const { port } = sockets;
  assert.deepEqual((await daemon.status()).listening, [`[::1]:${port}`, `127.0.0.1:${port}`]);
  assert.deepEqual([await head(port, "127.0.0.1"), await head(port, "::1")], [200, 200]);
});

test("where another port is configured both are served, before and after a reload", LIMIT, async (t) => {
  const sockets = bindSockets(t);
  const [first, second] = [await freePort(), await freePort()];
  const daemon = await startDaemon(t, { port: first, sockets });
  assert.deepEqual([await head(sockets.port, "127.0.0.1"), await head(first, "::1")], [200, 200]);
  writeFileSync(daemon.configFile, JSON.stringify({ listen: { port: second } }));
  await daemon.until(/"msg":"moved to another port"/);
  assert.deepEqual([await head(sockets.port, "127.0.0.1"), await head(second, "::1")], [200, 200]);
  await assert.rejects(head(first, "127.0.0.1"), { code: "ECONNREFUSED" });
});

test("a reload that goes to the handed-over port, from another one, listens once", LIMIT, async (t) => {
  const sockets = bindSockets(t);
  const daemon = await startDaemon(t, { port: await freePort(), sockets });
  writeFileSync(daemon.configFile, JSON.stringify({ listen: { port: sockets.port } }));
  await daemon.until(/"msg":"moved to another port"/);
  const { port } = sockets;
  assert.deepEqual((await daemon.status()).listening, [`127.0.0.1:${port}`, `[::1]:${port}`]);
});

test(
  "50 streams and a load of fresh connections run through a restart: nobody is refused or cut",
  LIMIT,
  async (t) => {
    const sockets = bindSockets(t);
    const { port } = sockets;
    const home = scratchDirectory(t);
    const streams = await holdStreams(t);
    const first = await startActivated(t, sockets, home, streams.config);
    const clients = await streams.open(port, 50);
    const answers: (number | undefined)[] = [];
    const load = { isOn: true };
    const asking = Array.from({ length: 8 }, async (_, index) => {
      while (load.isOn) answers.push(await head(port, index % 2 === 0 ? "127.0.0.1" : "::1"));
    });
    process.kill(first.pid, "SIGTERM");
    await first.until(/"open":50,"msg":"stopping/);
    streams.finish();
    await expectWhole(clients);
    assert.equal(await first.ended, 0);
    const second = await startActivated(t, sockets, home, streams.config);
    const more = await streams.open(port, 50);
    streams.finish();
    await expectWhole(more);
    load.isOn = false;
    await Promise.all(asking);
    assert.ok(answers.length >= 16 && answers.every((status) => status === 200), String(answers.length));
    const records = await second.ledger();
    assert.deepEqual(
      [records.length, new Set(records.map(({ outcome, usage }) => `${outcome} ${usage}`))],
      [100, new Set(["completed final"])],
    );
  },
);

test("who connects while the stop waits for a stream is answered by the next process", LIMIT, async (t) => {
  const sockets = bindSockets(t);
  const streams = await holdStreams(t);
  const home = scratchDirectory(t);
  const first = await startActivated(t, sockets, home, streams.config);
  const running = await streams.open(sockets.port, 1);
  process.kill(first.pid, "SIGTERM");
  await first.until(/"open":1,"msg":"stopping/);
  const late = await rawClient(t, sockets.port);
  late.write(rawRequest(sockets.port));
  streams.finish();
  await expectWhole(running);
  assert.equal(await first.ended, 0);
  await startActivated(t, sockets, home, streams.config);
  await late.until(/message_start/);
  streams.finish();
  await expectWhole([late]);
});

test("a descriptor that is no socket that listens is a failure that says so", LIMIT, async (t) => {
  const descriptors = [openSync("/dev/null", "r")];
  await assert.rejects(startDaemon(t, { sockets: { port: 0, descriptors } }), /error: .*descriptor 3/);
});
