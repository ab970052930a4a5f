import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeCertificate } from "../helpers/upstream/certificate.ts";
import {
  FAR_HOST,
  startConnectProxy,
  startFarUpstream,
  type ConnectProxyOptions,
  type FarUpstream,
} from "../helpers/upstream/connect-proxy.ts";
import { prepareHome, startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { scratchDirectory } from "../helpers/keychain/keychain-session.ts";
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
const NOT_ACCEPTED = /the new configuration is not accepted, the old one stays: [^"]*/;

/** An upstream that answers messages, a proxy in front of it, and the configuration that leads through both. */
async function startWay(t: TestContext) {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port });
  return { upstream, far, proxy, config: configOf(t, far, proxy.url) };
}

function configOf(t: TestContext, { baseUrl, certificate }: FarUpstream, httpsProxy: string) {
  return { ...keyInFile(t, baseUrl, "the-key").config, outbound: { httpsProxy, caFile: certificate.file } };
}

test("a daemon goes through the proxy that its file names, trusts its authority, and asks no environment", async (t) => {
  const { upstream, far, proxy, config } = await startWay(t);
  const other = await startConnectProxy(t, { to: far.port });
  const env = { HTTPS_PROXY: other.url, https_proxy: other.url, ALL_PROXY: other.url, NO_PROXY: FAR_HOST };
  const daemon = await startDaemon(t, { config, env });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.equal(upstream.seen[0]?.headers["x-api-key"], "the-key");
  assert.deepEqual([proxy.heads.length, other.sockets.length], [1, 0]);

  const tested = await daemon.command("key", "test");
  assert.deepEqual([tested.code, tested.stdout], [0, `accepted by ${far.baseUrl}\n`]);
  const checked = await daemon.command("config", "check");
  assert.match(checked.stdout, new RegExp(`\nreaches upstreams through the proxy ${proxy.url}\n`));
  assert.match(checked.stdout, new RegExp(`\ntrusts the authorities in ${far.certificate.file}, too\n`));
});

test("a daemon without a proxy in its file takes none from the environment", async (t) => {
  const { far, proxy, config } = await startWay(t);
  const env = { HTTPS_PROXY: proxy.url, https_proxy: proxy.url };
  const daemon = await startDaemon(t, { config: { ...config, outbound: {} }, env });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 502);
  assert.deepEqual([proxy.sockets, far.resumed], [[], []]);
});

test("authorities of NODE_EXTRA_CA_CERTS are trusted beside those of the file", async (t) => {
  const { far, config } = await startWay(t);
  const caFile = makeCertificate(t, "DNS:other.invalid").file;
  const env = { NODE_EXTRA_CA_CERTS: far.certificate.file };
  const daemon = await startDaemon(t, {
    config: { ...config, outbound: { ...config.outbound, caFile } },
    env,
  });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

test("another way is taken by the next request, while the stream that runs ends on the old one", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const [far, near] = [await startFarUpstream(t, upstream), await startFarUpstream(t, upstream)];
  const [first, second] = await Promise.all([
    startConnectProxy(t, { to: far.port }),
    startConnectProxy(t, { to: near.port }),
  ]);
  const config = configOf(t, far, first.url);
  const daemon = await startDaemon(t, { config });
  const client = await rawClient(t, daemon.port);
  client.write(rawRequest(daemon.port));
  const answer = await held;
  answer.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);

  upstream.answer((_seen, res) => answerJson(res, MESSAGE));
  const outbound = { httpsProxy: second.url, caFile: near.certificate.file };
  writeFileSync(daemon.configFile, JSON.stringify({ ...config, listen: { port: daemon.port }, outbound }));
  await daemon.until(IN_FORCE);
  // The certificate behind the first proxy is trusted no more, that behind the second is from now on.
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.deepEqual([first.heads.length, second.heads.length], [1, 1]);

  for (const event of MESSAGE_EVENTS.slice(1)) answer.write(event);
  answer.end();
  await client.until(/message_stop[^]*\r\n0\r\n\r\n$/);
  assert.deepEqual(
    (await daemon.ledger()).map(({ outcome, usage }) => [outcome, usage]),
    [
      ["completed", "final"],
      ["completed", "final"],
    ],
  );
});

test("a certificate that was exchanged in its file counts after SIGHUP", async (t) => {
  const { far, config } = await startWay(t);
  const caFile = join(scratchDirectory(t), "ca.pem");
  writeFileSync(caFile, makeCertificate(t, "DNS:other.invalid").cert);
  const daemon = await startDaemon(t, { config: { ...config, outbound: { ...config.outbound, caFile } } });
  const refused = await post(daemon, "/v1/messages", {});
  assert.equal(refused.status, 502);
  assert.match(await refused.text(), /its certificate is self-signed; .*outbound\.caFile/);
  writeFileSync(caFile, far.certificate.cert);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.until(READ_ANEW);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

/** Digs for one password alone. */
const takeSecond: ConnectProxyOptions["answer"] = (head) =>
  head.includes(Buffer.from("ada:second").toString("base64"))
    ? null
    : "HTTP/1.1 407 Who?\r\nproxy-authenticate: Basic\r\n\r\n";

test("another password alone is another way", async (t) => {
  const { upstream, far, config } = await startWay(t);
  const proxy = await startConnectProxy(t, { to: far.port, answer: takeSecond });
  const daemon = await startDaemon(t, { config });
  chmodSync(daemon.configFile, 0o600);
  const use = async (password: string, changes: number) => {
    const outbound = { ...config.outbound, httpsProxy: proxy.url.replace("//", `//ada:${password}@`) };
    writeFileSync(daemon.configFile, JSON.stringify({ ...config, listen: { port: daemon.port }, outbound }));
    await daemon.until(new RegExp(`(?:${IN_FORCE.source}[^]*){${changes}}`));
    return post(daemon, "/v1/messages", {});
  };
  const refused = await use("first", 1);
  assert.equal(refused.status, 502);
  assert.match(await refused.text(), /the proxy does not accept user name and password/);
  assert.equal((await use("second", 2)).status, 200);
  assert.equal(upstream.seen.length, 1);
  assert.doesNotMatch(daemon.stderr() + daemon.stdout(), /first|second/);
});

test("a file of authorities that cannot be used refuses a reload, and the old way stays", async (t) => {
  const { config } = await startWay(t);
  const daemon = await startDaemon(t, { config });
  const outbound = { ...config.outbound, caFile: "/no/such.pem" };
  writeFileSync(daemon.configFile, JSON.stringify({ ...config, listen: { port: daemon.port }, outbound }));
  assert.match(await daemon.until(NOT_ACCEPTED), /outbound\.caFile: \/no\/such\.pem cannot be used: ENOENT/);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

test("a password that others can read starts no daemon; in a private file it is shown to the proxy, and nowhere else", async (t) => {
  const { far, proxy } = await startWay(t);
  const secret = "told-to-nobody";
  const config = configOf(t, far, proxy.url.replace("//", `//ada:${secret}@`));
  const { home, configFile, command } = prepareHome(t, { config });
  const open = await command("config", "check");
  assert.equal(open.code, 1);
  assert.equal(
    open.stdout,
    `${configFile}:1: outbound.httpsProxy: it holds a password, and others can read this file; run \`chmod 600 ${configFile}\`\n`,
  );
  await assert.rejects(startDaemon(t, { config }), /outbound\.httpsProxy: it holds a password/);

  chmodSync(configFile, 0o600);
  const told = await Promise.all([
    command("config", "check"),
    command("config", "check", "--json"),
    command("key", "test"),
  ]);
  assert.deepEqual(
    told.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.ok(!JSON.stringify(told).includes(secret), home);
  const [head] = proxy.heads;
  assert.ok(
    head?.includes(`proxy-authorization: Basic ${Buffer.from(`ada:${secret}`).toString("base64")}\r\n`),
  );
});
