import assert from "node:assert/strict";
import { once } from "node:events";
import { openSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { bindSockets, type BoundSockets } from "../helpers/process/bound-sockets.ts";
import { diagnosticsMissing } from "../helpers/process/diagnostics-missing.ts";
import { WITH_DIAGNOSTICS } from "../helpers/process/diagnostics-socket.ts";
import { launchDaemon, startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { assertComplete, holdStreams } from "../helpers/client/many-streams.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { editConfig, MOVED } from "./config-edits.ts";

const LIMIT = { timeout: 300_000 };

/** Starts a daemon that inherits listening sockets, in a home that a later daemon can take over. */
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

/** Sends a probe on a new connection; returns the status. */
async function probe(port: number, host: string): Promise<number | undefined> {
  const req = request({ port, host, path: "/", method: "HEAD", agent: false }).end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  res.resume();
  return res.statusCode;
}

test(
  "a daemon with inherited sockets for both loopback addresses listens on these and on nothing else",
  LIMIT,
  async (t) => {
    const sockets = bindSockets(t);
    const daemon = await startActivated(t, sockets, scratchDirectory(t));
    const { port } = sockets;
    assert.deepEqual((await daemon.status()).listening, [`127.0.0.1:${port}`, `[::1]:${port}`]);
    assert.deepEqual([await probe(port, "127.0.0.1"), await probe(port, "::1")], [200, 200]);
  },
);

test(
  "a daemon with an inherited netlink socket after the others listens on the others, and admits our own user",
  { ...LIMIT, skip: diagnosticsMissing() },
  async (t) => {
    const sockets = bindSockets(t);
    const { port } = sockets;
    const daemon = await startDaemon(t, { port, sockets, launcher: [...WITH_DIAGNOSTICS] });
    assert.deepEqual((await daemon.status()).listening, [`127.0.0.1:${port}`, `[::1]:${port}`]);
    assert.deepEqual([await probe(port, "127.0.0.1"), await probe(port, "::1")], [200, 200]);
  },
);

test(
  "a daemon with an inherited socket for one loopback address opens the other one itself",
  LIMIT,
  async (t) => {
    const sockets = bindSockets(t, ["::1"]);
    const daemon = await startActivated(t, sockets, scratchDirectory(t));
    const { port } = sockets;
    assert.deepEqual((await daemon.status()).listening, [`[::1]:${port}`, `127.0.0.1:${port}`]);
    assert.deepEqual([await probe(port, "127.0.0.1"), await probe(port, "::1")], [200, 200]);
  },
);

test(
  "a daemon with another port configured serves that and the inherited port, also after a reload",
  LIMIT,
  async (t) => {
    const sockets = bindSockets(t);
    const [first, second] = [await freePort(), await freePort()];
    const daemon = await startDaemon(t, { port: first, sockets });
    assert.deepEqual([await probe(sockets.port, "127.0.0.1"), await probe(first, "::1")], [200, 200]);
    editConfig({ ...daemon, port: second }, {});
    await daemon.waitForOutput(MOVED);
    assert.deepEqual([await probe(sockets.port, "127.0.0.1"), await probe(second, "::1")], [200, 200]);
    await assert.rejects(probe(first, "127.0.0.1"), { code: "ECONNREFUSED" });
  },
);

test("a reload that configures the inherited port leaves one listener on each address", LIMIT, async (t) => {
  const sockets = bindSockets(t);
  const daemon = await startDaemon(t, { port: await freePort(), sockets });
  editConfig({ ...daemon, port: sockets.port }, {});
  await daemon.waitForOutput(MOVED);
  const { port } = sockets;
  assert.deepEqual((await daemon.status()).listening, [`127.0.0.1:${port}`, `[::1]:${port}`]);
});

test(
  "no stream is cut and no new connection is refused while a daemon with inherited sockets restarts",
  LIMIT,
  async (t) => {
    const sockets = bindSockets(t);
    const { port } = sockets;
    const home = scratchDirectory(t);
    const streams = await holdStreams(t);
    const first = await startActivated(t, sockets, home, streams.config);
    const clients = await streams.open(port, 50);
    const statuses: (number | undefined)[] = [];
    const load = { isOn: true };
    const probing = Array.from({ length: 8 }, async (_, index) => {
      while (load.isOn) statuses.push(await probe(port, index % 2 === 0 ? "127.0.0.1" : "::1"));
    });
    process.kill(first.pid, "SIGTERM");
    await first.waitForOutput(/"open":50,"msg":"stopping/);
    streams.finish();
    await assertComplete(clients);
    assert.equal(await first.ended, 0);
    const second = await startActivated(t, sockets, home, streams.config);
    const more = await streams.open(port, 50);
    streams.finish();
    await assertComplete(more);
    load.isOn = false;
    await Promise.all(probing);
    assert.ok(statuses.length >= 16 && statuses.every((status) => status === 200), String(statuses.length));
    const records = await second.ledger();
    assert.deepEqual(
      [records.length, new Set(records.map(({ outcome, usage }) => `${outcome} ${usage}`))],
      [100, new Set(["completed final"])],
    );
  },
);

test(
  "a client that connects while a daemon with inherited sockets drains is served by the next daemon",
  LIMIT,
  async (t) => {
    const sockets = bindSockets(t);
    const streams = await holdStreams(t);
    const home = scratchDirectory(t);
    const first = await startActivated(t, sockets, home, streams.config);
    const running = await streams.open(sockets.port, 1);
    process.kill(first.pid, "SIGTERM");
    await first.waitForOutput(/"open":1,"msg":"stopping/);
    const late = await sendRaw(t, sockets.port);
    streams.finish();
    await assertComplete(running);
    assert.equal(await first.ended, 0);
    await startActivated(t, sockets, home, streams.config);
    await late.until(/message_start/);
    streams.finish();
    await assertComplete([late]);
  },
);

test(
  "the start fails, and names the descriptor, when an inherited one is not a listening socket",
  LIMIT,
  async (t) => {
    const descriptors = [openSync("/dev/null", "r")];
    await assert.rejects(startDaemon(t, { sockets: { port: 0, descriptors } }), /error: .*descriptor 3/);
  },
);
