import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { bindSockets } from "../helpers/process/bound-sockets.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { startBridge } from "../helpers/remote/bridge.ts";
import { startSocketDaemon } from "../helpers/remote/socket-daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { startHeldUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { editConfig, IN_FORCE, NOT_ACCEPTED } from "./config-edits.ts";
import { openStream } from "./running-stream.ts";

/** Sends a request through a Unix socket. */
async function ask(
  socketPath: string,
  path = "/t/codex/v1/models",
): Promise<{ status: number; body: string }> {
  const sent = request({ socketPath, path, headers: { host: "localhost" } }).end();
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

test("requests through the socket are served and recorded by their mark, with no process; status names the socket", async (t) => {
  const { daemon, socket } = await startSocketDaemon(t, { ledger: { project: true } });
  assert.equal((await ask(socket)).status, 200);
  const [record] = await daemon.ledger();
  assert.deepEqual(
    [record?.tool, record?.tool_by, record?.process, record?.project],
    ["codex", "path", null, null],
  );
  assert.equal((await daemon.status()).socket, socket);
  assert.match((await daemon.command("status")).stdout, new RegExp(`^ +the socket ${socket}$`, "m"));
  assert.match(daemon.stderr(), new RegExp(`"listening":\\[.*"${socket}"\\]`));
});

test("without the setting there is no socket, and status says null", async (t) => {
  const daemon = await startDaemon(t);
  assert.equal((await daemon.status()).socket, null);
  assert.doesNotMatch((await daemon.command("status")).stdout, /the socket/);
});

test("another path takes effect without cutting streams, and null removes the socket", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const { daemon, socket, directory } = await startSocketDaemon(t, config);
  const bridge = await startBridge(t, socket);
  const stream = await openStream(t, bridge.port, held);
  const other = join(directory, "other.sock");
  editConfig(daemon, { ...config, listen: { port: daemon.port, socket: other } });
  await daemon.waitForOutput(IN_FORCE);
  assert.deepEqual([existsSync(socket), existsSync(other)], [false, true]);
  await stream.finish();
  assert.equal((await ask(other, "/")).status, 404);
  editConfig(daemon, { ...config, listen: { port: daemon.port } });
  await waitUntil("the socket to be removed", async () =>
    (await daemon.status()).socket === null ? true : null,
  );
  assert.equal(existsSync(other), false);
});

test("a path that cannot be used changes nothing, and status says why", async (t) => {
  const { daemon, socket } = await startSocketDaemon(t);
  const open = scratchDirectory(t);
  chmodSync(open, 0o755);
  editConfig(daemon, { listen: { port: daemon.port, socket: join(open, "tollkeeper.sock") } });
  assert.match(await daemon.waitForOutput(NOT_ACCEPTED), /other users can enter the directory/);
  assert.equal((await daemon.status()).socket, socket);
  assert.equal((await ask(socket)).status, 200);
});

test("a path that is too long for the system is refused with its length", async (t) => {
  const socket = join(scratchDirectory(t), "s".repeat(120));
  await assert.rejects(
    startDaemon(t, { config: { listen: { socket } } }),
    /error: "listen.socket" has 1\d\d bytes, but the system allows at most \d+/,
  );
});

test("a stop lets the stream of a container finish, accepts no other, and removes the socket", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const { daemon, socket } = await startSocketDaemon(t, config);
  const bridge = await startBridge(t, socket);
  const stream = await openStream(t, bridge.port, held);
  const stopped = daemon.stop();
  await daemon.waitForOutput(/"msg":"stopping; /);
  await assert.rejects(ask(socket));
  await stream.finish();
  assert.equal(await stopped, 0);
  assert.equal(existsSync(socket), false);
});

test("a client that leaves through a bridge ends the upstream's request, and is recorded as the one who cut it", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const { daemon, socket } = await startSocketDaemon(t, { ...config, abort: { graceMs: 0 } });
  const bridge = await startBridge(t, socket);
  const { client, response } = await openStream(t, bridge.port, held);
  const closed = once(response, "close");
  client.socket.destroy();
  await closed;
  const [record] = await waitUntil("the record", async () => {
    const records = await daemon.ledger();
    return records.length > 0 ? records : null;
  });
  assert.equal(record?.cut_by, "client");
});

test("an upstream that closes without a response resets the client's connection behind the bridge", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const { socket } = await startSocketDaemon(t, config);
  const bridge = await startBridge(t, socket);
  const client = connect(bridge.port, "127.0.0.1");
  t.after(() => client.destroy());
  const failed = once(client, "error") as Promise<[NodeJS.ErrnoException]>;
  client.write(
    "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n" +
      '{"model":"m"}',
  );
  (await held).destroy();
  assert.equal((await failed)[0].code, "ECONNRESET");
});

test("a socket that someone removes is created again", async (t) => {
  const { daemon, socket, directory } = await startSocketDaemon(t);
  rmSync(directory, { recursive: true });
  await daemon.waitForOutput(/the socket of \\"listen.socket\\" had been removed and was created again/);
  assert.equal((await ask(socket)).status, 200);
});

test("the socket is there beside those of a service manager", async (t) => {
  const sockets = bindSockets(t);
  const { daemon, socket } = await startSocketDaemon(t, {}, { sockets, port: sockets.port });
  assert.equal((await ask(socket)).status, 200);
  assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
});
