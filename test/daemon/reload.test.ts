import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { post } from "../helpers/gate/gate.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { rawClient, rawRequest } from "../helpers/client/raw-client.ts";
import {
  answerJson,
  MESSAGE,
  MESSAGE_EVENTS,
  startHeldUpstream,
  startUpstream,
} from "../helpers/upstream/scripted-upstream.ts";

const IN_FORCE = /"msg":"the new configuration is in force"/;
const READ_ANEW = /"msg":"keys are forgotten and the configuration was read anew"/;

/** Replaces the daemon's configuration file, its port kept unless another one is given. */
function edit({ configFile, port }: { configFile: string; port: number }, config: object): void {
  writeFileSync(configFile, JSON.stringify({ listen: { port }, ...config }));
}

/** A daemon in front of an upstream whose first answer is a stream that has begun; the test sends the rest. */
async function startStream(t: TestContext) {
  const { upstream, held } = await startHeldUpstream(t);
  const { config } = keyInFile(t, upstream.baseUrl, "first-key");
  const daemon = await startDaemon(t, { config });
  const client = await rawClient(t, daemon.port);
  client.write(rawRequest(daemon.port));
  const answer = await held;
  answer.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  const finish = async () => {
    for (const event of MESSAGE_EVENTS.slice(1)) answer.write(event);
    answer.end();
    await client.until(/message_stop[^]*\r\n0\r\n\r\n$/);
  };
  return { daemon, config, client, finish };
}

test("SIGHUP drops the keys in memory and reads the configuration", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const key = keyInFile(t, upstream.baseUrl, "first-key");
  const daemon = await startDaemon(t, { config: key.config });
  await (await post(daemon, "/v1/messages", {})).text();
  key.write("second-key");
  await (await post(daemon, "/v1/messages", {})).text();
  process.kill(daemon.pid, "SIGHUP");
  await daemon.until(READ_ANEW);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers["x-api-key"]),
    ["first-key", "first-key", "second-key"],
  );
});

test("a good edit takes effect for the next request, and the stream that runs ends as it began", async (t) => {
  const { daemon, finish } = await startStream(t);
  const other = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  edit(daemon, keyInFile(t, other.baseUrl, "other-key").config);
  await daemon.until(IN_FORCE);
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

test("another key file for the same upstream is read at once", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const daemon = await startDaemon(t, { config: keyInFile(t, upstream.baseUrl, "first-key").config });
  await (await post(daemon, "/v1/messages", {})).text();
  edit(daemon, keyInFile(t, upstream.baseUrl, "second-key").config);
  await daemon.until(IN_FORCE);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.equal(upstream.seen[1]?.headers["x-api-key"], "second-key");
  const { keys } = await daemon.status();
  assert.deepEqual(
    keys.map(({ state }) => state),
    ["present"],
  );
});

test("the first upstream takes the place of the sandbox, and the sandbox that of the last one", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const daemon = await startDaemon(t);
  edit(daemon, keyInFile(t, upstream.baseUrl, "some-key").config);
  await daemon.until(IN_FORCE);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.equal(upstream.seen.length, 1);
  edit(daemon, {});
  await daemon.until(new RegExp(`${IN_FORCE.source}[^]*${IN_FORCE.source}`));
  assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
  assert.equal(upstream.seen.length, 1);
});

test("a bad edit changes nothing, is logged once, and shows in `status` until it is mended", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { config } = keyInFile(t, upstream.baseUrl, "some-key");
  const daemon = await startDaemon(t, { config });
  edit(daemon, { ...config, nonsense: 1 });
  await daemon.until(/the new configuration is not accepted, the old one stays: .*nonsense/);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.until(READ_ANEW);
  assert.equal(daemon.stderr().match(/is not accepted/g)?.length, 1);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  const sick = await daemon.command("status");
  assert.equal(sick.code, 1);
  assert.match(sick.stdout, /not accepted [^:]*: .*config\.jsonc:1.*nonsense/);
  edit(daemon, { ...config, limits: { drainMs: 1 } });
  await daemon.until(IN_FORCE);
  const well = await daemon.command("status");
  assert.deepEqual([well.code, /not accepted: /.test(well.stdout)], [0, false]);
});

test("a changed port is bound anew: the stream on the old one ends whole, new connections go to the new one", async (t) => {
  const { daemon, config, client, finish } = await startStream(t);
  const silent = await rawClient(t, daemon.port);
  const port = await freePort();
  edit({ ...daemon, port }, config);
  await daemon.until(/"msg":"moved to another port"/);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: "HEAD" })).status, 200);
  assert.equal((await fetch(`http://[::1]:${port}/`, { method: "HEAD" })).status, 200);
  await assert.rejects(rawClient(t, daemon.port), { code: "ECONNREFUSED" });
  assert.deepEqual((await daemon.status()).listening, [`127.0.0.1:${port}`, `[::1]:${port}`]);
  await finish();
  client.socket.destroy();
  // What is left on the old port, even a connection that never said a word, does not keep the daemon alive.
  assert.equal(await daemon.stop(), 0);
  await silent.closed;
});

test("another ledger directory is written to and read from at once", async (t) => {
  const daemon = await startDaemon(t);
  const body = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };
  const ask = async () => (await post(daemon, "/v1/messages", body)).text();
  await ask();
  const directory = join(daemon.home, "other");
  edit(daemon, { ledger: { directory } });
  await daemon.until(IN_FORCE);
  await ask();
  const { ledger } = await daemon.status();
  assert.deepEqual([ledger.directory, ledger.written], [directory, 2]);
  const { stdout } = await daemon.command("usage", "--json");
  assert.equal((JSON.parse(stdout) as { total: { requests: number } }).total.requests, 1);
});

test("a ledger directory that is not safe refuses the whole edit, until it is mended", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { config } = keyInFile(t, upstream.baseUrl, "some-key");
  const daemon = await startDaemon(t);
  const [directory, port] = [join(daemon.home, "other"), await freePort()];
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  edit({ ...daemon, port }, { ...config, ledger: { directory } });
  await daemon.until(/the old one stays: .*can be written by other users; chmod 700 /);
  assert.equal((await fetch(`${daemon.url}/v1/models`)).status, 200);
  assert.equal(upstream.seen.length, 0);
  await assert.rejects(rawClient(t, port), { code: "ECONNREFUSED" });
  const sick = await daemon.command("status");
  assert.equal(sick.code, 1);
  assert.match(sick.stdout, /not accepted [^:]*: .*can be written by other users/);
  chmodSync(directory, 0o700);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.until(IN_FORCE);
  assert.equal((await post({ url: `http://127.0.0.1:${port}` }, "/v1/messages", {})).status, 200);
  assert.deepEqual([upstream.seen.length, (await daemon.status()).config.problems], [1, []]);
});
