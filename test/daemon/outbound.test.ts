import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeCertificate } from "../helpers/upstream/certificate.ts";
import {
  REMOTE_HOST,
  startConnectProxy,
  startRemoteUpstream,
  type ConnectProxyOptions,
  type RemoteUpstream,
} from "../helpers/upstream/connect-proxy.ts";
import { prepareHome, startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import {
  respondWithMessage,
  startHeldUpstream,
  sendJson,
  startUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { editConfig, IN_FORCE, NOT_ACCEPTED, READ_AGAIN } from "./config-edits.ts";
import { openStream } from "./running-stream.ts";

/** An upstream that can be reached through a proxy only, and a daemon's configuration for it. */
async function startProxiedUpstream(t: TestContext) {
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.url === "/v1/models") sendJson(res, { data: [{ id: "a" }] });
    else respondWithMessage(seen, res);
  });
  const remote = await startRemoteUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: remote.port });
  return { upstream, remote, proxy, config: configOf(t, remote, proxy.url) };
}

function configOf(t: TestContext, { baseUrl, certificate }: RemoteUpstream, httpsProxy: string) {
  return {
    ...writeKeyFile(t, baseUrl, "the-key").config,
    outbound: { httpsProxy, caFile: certificate.file },
  };
}

test("a daemon uses the proxy and the certificate authorities of its configuration and not the proxies of its environment", async (t) => {
  const { upstream, remote, proxy, config } = await startProxiedUpstream(t);
  const other = await startConnectProxy(t, { to: remote.port });
  const env = { HTTPS_PROXY: other.url, https_proxy: other.url, ALL_PROXY: other.url, NO_PROXY: REMOTE_HOST };
  const daemon = await startDaemon(t, { config, env });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.equal(upstream.seen[0]?.headers["x-api-key"], "the-key");
  assert.deepEqual([proxy.heads.length, other.sockets.length], [1, 0]);

  const tested = await daemon.command("key", "test");
  assert.deepEqual(
    [tested.code, tested.stdout],
    [0, `${remote.baseUrl} accepts the key "default" and lists 1 model.\n`],
  );
  const checked = await daemon.command("config", "check");
  assert.match(checked.stdout, new RegExp(`\nreaches upstreams through the proxy ${proxy.url}\n`));
  assert.match(
    checked.stdout,
    new RegExp(`\nalso trusts the certificate authorities in ${remote.certificate.file}\n`),
  );
});

test("a daemon without a proxy in its configuration takes none from the environment", async (t) => {
  const { remote, proxy, config } = await startProxiedUpstream(t);
  const env = { HTTPS_PROXY: proxy.url, https_proxy: proxy.url };
  const daemon = await startDaemon(t, { config: { ...config, outbound: {} }, env });
  const refused = await post(daemon, "/v1/messages", {});
  assert.match(await refused.text(), /its host name (?:is unknown|cannot be looked up)/);
  assert.deepEqual([proxy.sockets, remote.resumed], [[], []]);
});

test("the authorities of NODE_EXTRA_CA_CERTS are trusted in addition to those of outbound.caFile", async (t) => {
  const { remote, config } = await startProxiedUpstream(t);
  const caFile = makeCertificate(t, "DNS:other.invalid").file;
  const env = { NODE_EXTRA_CA_CERTS: remote.certificate.file };
  const daemon = await startDaemon(t, {
    config: { ...config, outbound: { ...config.outbound, caFile } },
    env,
  });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

test("after a change of proxy the next request uses the new one, while a running stream completes through the old one", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const oldRemote = await startRemoteUpstream(t, upstream);
  const newRemote = await startRemoteUpstream(t, upstream);
  const oldProxy = await startConnectProxy(t, { to: oldRemote.port });
  const newProxy = await startConnectProxy(t, { to: newRemote.port });
  const config = configOf(t, oldRemote, oldProxy.url);
  const daemon = await startDaemon(t, { config });
  const { finish } = await openStream(t, daemon.port, held);

  upstream.respondWith(respondWithMessage);
  const outbound = { httpsProxy: newProxy.url, caFile: newRemote.certificate.file };
  editConfig(daemon, { ...config, outbound });
  await daemon.waitForOutput(IN_FORCE);
  // From now on the certificate behind the new proxy is trusted, and the one behind the old proxy is not.
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.deepEqual([oldProxy.heads.length, newProxy.heads.length], [1, 1]);

  await finish();
  assert.deepEqual(
    (await daemon.ledger()).map(({ outcome, usage }) => [outcome, usage]),
    [
      ["completed", "final"],
      ["completed", "final"],
    ],
  );
});

test("SIGHUP makes the daemon read outbound.caFile again", async (t) => {
  const { remote, config } = await startProxiedUpstream(t);
  const caFile = join(scratchDirectory(t), "ca.pem");
  writeFileSync(caFile, makeCertificate(t, "DNS:other.invalid").cert);
  const daemon = await startDaemon(t, { config: { ...config, outbound: { ...config.outbound, caFile } } });
  const refused = await post(daemon, "/v1/messages", {});
  assert.equal(refused.status, 402);
  assert.match(await refused.text(), /its certificate is self-signed\. .*outbound\.caFile/);
  writeFileSync(caFile, remote.certificate.cert);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.waitForOutput(READ_AGAIN);
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

/** Opens a tunnel for the password "second" only. */
const acceptSecond: ConnectProxyOptions["respondWith"] = (head) =>
  head.includes(Buffer.from("ada:second").toString("base64"))
    ? null
    : "HTTP/1.1 407 Who?\r\nproxy-authenticate: Basic\r\n\r\n";

test("a change of the proxy password alone takes effect for the next request", async (t) => {
  const { upstream, remote, config } = await startProxiedUpstream(t);
  const proxy = await startConnectProxy(t, { to: remote.port, respondWith: acceptSecond });
  const daemon = await startDaemon(t, { config });
  chmodSync(daemon.configFile, 0o600);
  const askWith = async (password: string, changes: number) => {
    const outbound = { ...config.outbound, httpsProxy: proxy.url.replace("//", `//ada:${password}@`) };
    editConfig(daemon, { ...config, outbound });
    await daemon.waitForOutput(new RegExp(`(?:${IN_FORCE.source}[^]*){${changes}}`));
    return post(daemon, "/v1/messages", {});
  };
  const refused = await askWith("first", 1);
  assert.equal(refused.status, 402);
  assert.match(await refused.text(), /the proxy rejects the user name and password/);
  assert.equal((await askWith("second", 2)).status, 200);
  assert.equal(upstream.seen.length, 1);
  assert.doesNotMatch(daemon.stderr() + daemon.stdout(), /first|second/);
});

test("an edit with an outbound.caFile that cannot be read is rejected, and the old proxy and authorities stay in use", async (t) => {
  const { config } = await startProxiedUpstream(t);
  const daemon = await startDaemon(t, { config });
  const outbound = { ...config.outbound, caFile: "/no/such.pem" };
  editConfig(daemon, { ...config, outbound });
  assert.match(
    await daemon.waitForOutput(NOT_ACCEPTED),
    /outbound\.caFile: \/no\/such\.pem cannot be used: it does not exist/,
  );
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
});

test("a proxy password in a configuration file that others can read is rejected; in a private file it is used and never printed", async (t) => {
  const { remote, proxy } = await startProxiedUpstream(t);
  const secret = "sentinel-password";
  const config = configOf(t, remote, proxy.url.replace("//", `//ada:${secret}@`));
  const { home, configFile, command } = prepareHome(t, { config });
  const rejected = await command("config", "check");
  assert.equal(rejected.code, 1);
  assert.equal(
    rejected.stdout,
    `${configFile}:1: outbound.httpsProxy: it contains a password, and others can read this file; fix: chmod 600 ${configFile}\n`,
  );
  await assert.rejects(startDaemon(t, { config }), /outbound\.httpsProxy: it contains a password/);

  chmodSync(configFile, 0o600);
  const results = await Promise.all([
    command("config", "check"),
    command("config", "check", "--json"),
    command("key", "test"),
  ]);
  assert.deepEqual(
    results.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.ok(!JSON.stringify(results).includes(secret), home);
  const [head] = proxy.heads;
  assert.ok(
    head?.includes(`proxy-authorization: Basic ${Buffer.from(`ada:${secret}`).toString("base64")}\r\n`),
  );
});
