import assert from "node:assert/strict";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rawClient } from "../helpers/client/raw-client.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { asUser, NOBODY, noOtherUser } from "../helpers/process/other-user.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { respondWithMessage, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { editConfig, IN_FORCE, MOVED, READ_AGAIN } from "./config-edits.ts";
import { startStream } from "./running-stream.ts";

test("SIGHUP makes the daemon forget its keys and read the configuration again", async (t) => {
  const options = { key: "first-key" };
  const { upstream, daemon, keyFile } = await startDaemonWithUpstream(t, respondWithMessage, options);
  await (await post(daemon, "/v1/messages", {})).text();
  keyFile.write("second-key");
  await (await post(daemon, "/v1/messages", {})).text();
  process.kill(daemon.pid, "SIGHUP");
  await daemon.waitForOutput(READ_AGAIN);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers["x-api-key"]),
    ["first-key", "first-key", "second-key"],
  );
});

test("an edit of the configuration takes effect for the next request, while a running stream keeps its upstream and completes", async (t) => {
  const { daemon, finish } = await startStream(t);
  const other = await startUpstream(t, respondWithMessage);
  editConfig(daemon, writeKeyFile(t, other.baseUrl, "other-key").config);
  await daemon.waitForOutput(IN_FORCE);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.equal(other.seen[0]?.headers["x-api-key"], "other-key");
  await finish();
  assert.deepEqual(
    (await daemon.ledger()).map(({ outcome, usage }) => [outcome, usage]),
    [
      ["completed", "final"],
      ["completed", "final"],
    ],
  );
});

test("what status knows of an upstream is forgotten when its address changes, and kept when something else does", async (t) => {
  const { upstream, daemon } = await startDaemonWithUpstream(t);
  await (await post(daemon, "/v1/messages", {})).text();
  const last = async () => (await daemon.status()).upstreams.map((one) => one.lastExchange?.outcome ?? null);
  editConfig(daemon, writeKeyFile(t, upstream.baseUrl, "second-key").config);
  await daemon.waitForOutput(IN_FORCE);
  assert.deepEqual(await last(), ["completed"]);
  const other = await startUpstream(t, respondWithMessage);
  const inForceAgain = new RegExp(`${IN_FORCE.source}[^]*${IN_FORCE.source}`);
  editConfig(daemon, writeKeyFile(t, other.baseUrl, "other-key").config);
  await daemon.waitForOutput(inForceAgain);
  assert.deepEqual(await last(), [null]);
});

test("another key file for the same upstream is read for the next request", async (t) => {
  const { upstream, daemon } = await startDaemonWithUpstream(t);
  await (await post(daemon, "/v1/messages", {})).text();
  editConfig(daemon, writeKeyFile(t, upstream.baseUrl, "second-key").config);
  await daemon.waitForOutput(IN_FORCE);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.equal(upstream.seen[1]?.headers["x-api-key"], "second-key");
  const { keys } = await daemon.status();
  assert.deepEqual(
    keys.map(({ state }) => state),
    ["present"],
  );
});

test("the first configured upstream replaces the sandbox, and removing the last one brings the sandbox back", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const daemon = await startDaemon(t);
  editConfig(daemon, writeKeyFile(t, upstream.baseUrl, "some-key").config);
  await daemon.waitForOutput(IN_FORCE);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.equal(upstream.seen.length, 1);
  editConfig(daemon, {});
  await daemon.waitForOutput(new RegExp(`${IN_FORCE.source}[^]*${IN_FORCE.source}`));
  assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
  assert.equal(upstream.seen.length, 1);
});

test("an invalid edit changes nothing, is logged once, and is reported by `status` until it is corrected", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t);
  const { config } = keyFile;
  editConfig(daemon, { ...config, nonsense: 1 });
  await daemon.waitForOutput(/the new configuration cannot be applied; still using the old one: .*nonsense/);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.waitForOutput(READ_AGAIN);
  assert.equal(daemon.stderr().match(/cannot be applied/g)?.length, 1);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  const before = await daemon.command("status");
  assert.equal(before.code, 1);
  assert.match(before.stdout, /not accepted [^:]*: .*config\.jsonc:1.*nonsense/);
  editConfig(daemon, { ...config, limits: { drainMs: 1 } });
  await daemon.waitForOutput(IN_FORCE);
  const after = await daemon.command("status");
  assert.deepEqual([after.code, /not accepted: /.test(after.stdout)], [0, false]);
});

test("after a change of port a stream on the old port completes, and new connections are accepted on the new port only", async (t) => {
  const { daemon, config, client, finish } = await startStream(t);
  const silent = await rawClient(t, daemon.port);
  const port = await freePort();
  editConfig({ ...daemon, port }, config);
  await daemon.waitForOutput(MOVED);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: "HEAD" })).status, 200);
  assert.equal((await fetch(`http://[::1]:${port}/`, { method: "HEAD" })).status, 200);
  await assert.rejects(rawClient(t, daemon.port), { code: "ECONNREFUSED" });
  assert.deepEqual((await daemon.status()).listening, [`127.0.0.1:${port}`, `[::1]:${port}`]);
  await finish();
  client.socket.destroy();
  // Connections to the old port, even one that never sent a byte, do not keep the daemon alive.
  assert.equal(await daemon.stop(), 0);
  await silent.closed;
});

test("after a change of the ledger directory records are written to the new one, and `usage` reads it", async (t) => {
  const daemon = await startDaemon(t);
  const body = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };
  const ask = async () => (await post(daemon, "/v1/messages", body)).text();
  await ask();
  const directory = join(daemon.home, "other");
  editConfig(daemon, { ledger: { directory } });
  await daemon.waitForOutput(IN_FORCE);
  await ask();
  const { ledger } = await daemon.status();
  assert.deepEqual([ledger.directory, ledger.written], [directory, 2]);
  const { stdout } = await daemon.command("usage", "--json");
  assert.equal(
    (JSON.parse(stdout) as { sandbox: { total: { requests: number } } }).sandbox.total.requests,
    1,
  );
});

test("an edit with an unsafe ledger directory is rejected as a whole, and takes effect by itself once the directory is safe", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const daemon = await startDaemon(t);
  const [directory, port] = [join(daemon.home, "other"), await freePort()];
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  editConfig({ ...daemon, port }, { ...config, ledger: { directory } });
  await daemon.waitForOutput(/still using the old one: .*can be written by other users; fix: chmod 700 /);
  assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
  assert.equal(upstream.seen.length, 0);
  await assert.rejects(rawClient(t, port), { code: "ECONNREFUSED" });
  const status = await daemon.command("status");
  assert.equal(status.code, 1);
  assert.match(status.stdout, /not accepted [^:]*: .*can be written by other users/);
  chmodSync(directory, 0o700);
  await daemon.waitForOutput(IN_FORCE);
  assert.equal((await post({ url: `http://127.0.0.1:${port}` }, "/v1/messages", {})).status, 200);
  assert.deepEqual([upstream.seen.length, (await daemon.status()).config.problems], [1, []]);
});

test(
  "a daemon follows its configuration again after the directory was closed to it for a moment",
  { skip: noOtherUser },
  async (t) => {
    const daemon = await startDaemon(t, { launcher: asUser(NOBODY) });
    chmodSync(daemon.home, 0o000);
    await daemon.waitForOutput(/permission denied/);
    chmodSync(daemon.home, 0o700);
    await daemon.waitForOutput(/the configuration file is valid again/);
    const port = await freePort();
    editConfig(daemon, { listen: { port } });
    await daemon.waitForOutput(MOVED);
    assert.deepEqual((await daemon.status()).config.problems, []);
  },
);
