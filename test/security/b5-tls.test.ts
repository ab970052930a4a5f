// B5, TLS: an upstream's certificate is always verified, NODE_TLS_REJECT_UNAUTHORIZED is ignored with a warning, and plain http is
// allowed only for loopback.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { fetchModels } from "../../src/proxy/upstream/fetch-models.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { Failure } from "../../src/core/failure.ts";
import type { Outbound } from "../../src/core/config/outbound.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { makeCertificate, startTlsUpstream } from "../helpers/upstream/certificate.ts";
import {
  outboundThrough,
  startConnectProxy,
  startRemoteUpstream,
} from "../helpers/upstream/connect-proxy.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post, startGate, TEST_KEY, upstreamAt } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { setEnvironment } from "../helpers/process/set-environment.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

/** The environment variable that switches certificate verification off in Node. */
const OFF = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };

function startUntrustedUpstream(t: TestContext) {
  return startTlsUpstream(t, makeCertificate(t, "IP:127.0.0.1"));
}

test("a gate refuses an upstream's self-signed certificate for good, whatever the environment says", async (t) => {
  const untrusted = await startUntrustedUpstream(t);
  const gate = await startGate(t, untrusted.baseUrl);
  setEnvironment(t, OFF);
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [402, "upstream_misconfigured"]);
  assert.match(await res.text(), /its certificate is self-signed/);
  assert.deepEqual(untrusted.credentials, []);
});

test("`key test` does not send the key to an upstream with a self-signed certificate", async (t) => {
  const untrusted = await startUntrustedUpstream(t);
  setEnvironment(t, OFF);
  const failure: unknown = await fetchModels(
    upstreamAt(untrusted.baseUrl),
    new Secret(TEST_KEY),
    defaultConfig.outbound,
  ).catch((reason: unknown) => reason);
  assert.ok(failure instanceof Failure);
  assert.match(failure.message, /^cannot connect to .*DEPTH_ZERO_SELF_SIGNED_CERT/);
  assert.deepEqual(untrusted.credentials, []);
});

test("through a proxy both certificates are verified, and the proxy does not see the key", async (t) => {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const far = await startRemoteUpstream(t, upstream);
  const certificate = makeCertificate(t, "IP:127.0.0.1");
  const [plain, secure] = await Promise.all([
    startConnectProxy(t, { to: far.port }),
    startConnectProxy(t, { to: far.port, certificate }),
  ]);
  setEnvironment(t, OFF);
  const ask = async (outbound: Outbound) => {
    const gate = await startGate(t, far.baseUrl, { config: { outbound } });
    return post(gate, "/v1/messages", {});
  };
  const untrusted = await ask({ ...outboundThrough(plain, far), authorities: [] });
  assert.equal(untrusted.status, 402);
  assert.match(await untrusted.text(), /: its certificate is self-signed/);
  const throughUntrusted = await ask(outboundThrough(secure, far));
  assert.equal(throughUntrusted.status, 402);
  assert.match(await throughUntrusted.text(), /the proxy cannot be reached: its certificate is self-signed/);
  assert.deepEqual([upstream.seen.length, secure.heads.length], [0, 0]);

  assert.equal((await ask(outboundThrough(plain, far))).status, 200);
  assert.equal(upstream.seen[0]?.headers["x-api-key"], TEST_KEY);
  assert.ok(!plain.received().includes(TEST_KEY));
});

test("a daemon with NODE_TLS_REJECT_UNAUTHORIZED=0 verifies certificates and warns once", async (t) => {
  const trusted = makeCertificate(t, "IP:127.0.0.1");
  const [good, wrongHost, untrusted] = await Promise.all([
    startTlsUpstream(t, trusted),
    startTlsUpstream(t, trusted),
    startUntrustedUpstream(t),
  ]);
  const upstream = (baseUrl: string) => writeKeyFile(t, baseUrl, TEST_KEY).config.upstreams.default;
  const daemon = await startDaemon(t, {
    config: {
      upstreams: {
        default: upstream(good.baseUrl),
        // Its certificate is trusted, but for the address and not for this name.
        other: upstream(wrongHost.baseUrl.replace("127.0.0.1", "localhost")),
        untrusted: upstream(untrusted.baseUrl),
      },
      tools: { a: { upstreams: ["other"] }, b: { upstreams: ["untrusted"] } },
    },
    env: { ...OFF, NODE_EXTRA_CA_CERTS: trusted.file },
  });
  const responses = await Promise.all(
    ["/v1", "/t/a", "/t/b"].map((base) => post(daemon, `${base}/responses`, {})),
  );
  const texts = await Promise.all(responses.map((response) => response.text()));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 400, 400],
    texts[0],
  );
  assert.match(texts[1] ?? "", /its certificate is for another host/);
  assert.match(texts[2] ?? "", /its certificate is self-signed/);
  assert.deepEqual(
    [good, wrongHost, untrusted].map(({ credentials }) => credentials),
    [[`Bearer ${TEST_KEY}`], [], []],
  );

  const tested = await daemon.command("key", "test", "--upstream", "untrusted");
  assert.deepEqual([tested.code, tested.stdout], [1, ""]);
  assert.match(
    tested.stderr,
    /^warning: NODE_TLS_REJECT_UNAUTHORIZED is ignored: certificates are always verified\nerror: cannot connect to /,
  );
  assert.deepEqual(untrusted.credentials, []);

  await daemon.stop();
  const log = daemon.stderr();
  assert.equal(log.match(/NODE_TLS_REJECT_UNAUTHORIZED/g)?.length, 1, log);
  assert.match(log, /"level":40[^\n]*NODE_TLS_REJECT_UNAUTHORIZED is ignored/);
});

test("a configuration with plain http beyond loopback is refused in every spelling", async (t) => {
  const addresses = [
    "http://api.example.com/v1",
    "HTTP://api.example.com/v1",
    "http://192.168.1.10/v1",
    "http://10.0.0.1:8080/v1",
    "http://0.0.0.0:8080/v1",
    "http://[::]/v1",
    "http://[::ffff:127.0.0.1]/v1",
    "http://localhost.evil.example/v1",
    "http://127.0.0.1.evil.example/v1",
    "http://127.0.0.1@evil.example/v1",
    "http://host.docker.internal/v1",
  ];
  const named = addresses.map((baseUrl, i) => [i === 0 ? "default" : `u${i}`, { baseUrl }]);
  const start = startDaemon(t, { config: { upstreams: Object.fromEntries(named) } });
  await assert.rejects(start, (error: Error) => {
    assert.match(error.message, /error: the configuration is not usable/);
    assert.equal(
      error.message.match(/must start with https:|not contain a user name/g)?.length,
      addresses.length,
    );
    return true;
  });
});
