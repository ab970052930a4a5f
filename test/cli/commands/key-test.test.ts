import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { askForModels, countModels } from "../../../src/cli/keys/ask-for-models.ts";
import { defaultConfig, plainUpstream, type Upstream } from "../../../src/core/config/config.ts";
import { Failure } from "../../../src/core/failure.ts";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { outboundThrough, startConnectProxy, startFarUpstream } from "../../helpers/upstream/connect-proxy.ts";
import { prepareKeyCommand, sentinelKey } from "../../helpers/keychain/key-command.ts";
import { noKeyring } from "../../helpers/keychain/keychain-session.ts";
import { answerJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

const DIRECT = defaultConfig.outbound;

/** The failure's words, after making sure that the key is not among them. */
async function failureOf(upstream: Upstream, key: string): Promise<Failure> {
  const error: unknown = await countModels(upstream, new Secret(key), DIRECT).catch(
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure);
  assert.ok(
    !`${error.stack} ${error.hint} ${JSON.stringify(error)}`.includes(key),
    "the key is in the failure",
  );
  return error;
}

test("an accepted key is counted by the models that it may use", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) =>
    answerJson(res, { data: [{ id: "a" }, { id: "b" }] }),
  );
  const key = sentinelKey();
  assert.equal(await countModels(plainUpstream("default", upstream.baseUrl), new Secret(key), DIRECT), 2);
  const [seen] = upstream.seen;
  assert.deepEqual([seen?.method, seen?.url], ["GET", "/v1/models"]);
  assert.equal(seen?.headers.authorization, `Bearer ${key}`);
  assert.equal(seen?.headers["x-api-key"], undefined);
});

test("an accepting answer of another shape is accepted without a number", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => res.end("[]"));
  assert.equal(await countModels(plainUpstream("default", upstream.baseUrl), new Secret("k"), DIRECT), null);
});

test("a refused key is told with the upstream's words, the key in them blotted", async (t) => {
  const key = sentinelKey();
  const upstream = await startUpstream(t, (_seen, res) =>
    answerJson(res, { error: { message: `Incorrect API key: ${key}\u001b[2J` } }, 401),
  );
  const failure = await failureOf(plainUpstream("default", upstream.baseUrl), key);
  const stars = "*".repeat(key.length);
  assert.equal(
    failure.message,
    `refused: ${upstream.baseUrl} answers 401: Incorrect API key: ${stars}\\u001b[2J`,
  );
  upstream.answer((_seen, res) => res.writeHead(403).end(`no ${"x".repeat(290)} ${key}`));
  assert.match(
    (await failureOf(plainUpstream("default", upstream.baseUrl), key)).message,
    /answers 403: no x+ \*+$/,
  );
});

test("an upstream in trouble says nothing about the key", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) =>
    answerJson(res, { error: { message: "busy" } }, 503),
  );
  const failure = await failureOf(plainUpstream("default", upstream.baseUrl), sentinelKey());
  assert.match(failure.message, /^not decided: .* answers 503: busy, which says nothing about the key$/);
});

test("an upstream that is not there, or breaks off, is unreachable", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => {
    res.writeHead(200, { "content-length": 10 });
    res.write("{", () => res.destroy());
  });
  const address = plainUpstream("default", upstream.baseUrl);
  assert.match((await failureOf(address, sentinelKey())).message, /^unreachable: .*ECONNRESET/);
  upstream.server.close();
  upstream.server.closeAllConnections();
  await once(upstream.server, "close");
  assert.match((await failureOf(address, sentinelKey())).message, /^unreachable: .*ECONNREFUSED/);
});

test("an upstream behind a proxy is asked through it, and the way is told with its times", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { data: [] }));
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port });
  const key = sentinelKey();
  const asked = askForModels(
    plainUpstream("default", far.baseUrl),
    new Secret(key),
    outboundThrough(proxy, far),
  );
  const { connectMs, answerMs, tls, at, ...rest } = await asked;
  assert.deepEqual(rest, { models: 0, proxy: proxy.url });
  assert.ok(connectMs > 0 && answerMs > 0 && at !== null);
  assert.equal(tls?.protocol, "TLSv1.3");
  assert.equal(tls.certificateEnds.getTime(), Date.parse(new X509Certificate(far.certificate.cert).validTo));
  const [seen] = upstream.seen;
  assert.deepEqual(
    [seen?.headers.host, seen?.headers.authorization],
    ["api.far.invalid:4711", `Bearer ${key}`],
  );
  assert.ok(!proxy.seen().includes(key));
});

test("a direct way over plain http is told as such", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { data: [] }));
  const { tls, proxy } = await askForModels(
    plainUpstream("default", upstream.baseUrl),
    new Secret("k"),
    DIRECT,
  );
  assert.deepEqual([tls, proxy], [null, null]);
});

test("what is wrong with proxy or certificate is told with the edit that mends it", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { data: [] }));
  const far = await startFarUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port });
  const outbound = outboundThrough(proxy, far);
  const failureBy = async (way: Outbound) => {
    const asked = askForModels(plainUpstream("default", far.baseUrl), new Secret("k"), way);
    const failure: unknown = await asked.catch((reason: unknown) => reason);
    assert.ok(failure instanceof Failure);
    return [failure.message, failure.hint];
  };
  assert.deepEqual(await failureBy({ ...outbound, authorities: [] }), [
    `unreachable: ${far.origin} (its certificate is self-signed, DEPTH_ZERO_SELF_SIGNED_CERT)`,
    'if your network has a certificate authority of its own, name its file in "outbound.caFile": tollkeeper config edit',
  ]);
  proxy.server.close();
  assert.deepEqual(await failureBy(outbound), [
    `unreachable: ${far.origin} (the proxy cannot be reached: nothing listens there, ECONNREFUSED)`,
    'correct "outbound.httpsProxy": tollkeeper config edit',
  ]);
});

test("`key test` uses the stored key, and says what became of it", { skip: noKeyring }, async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { data: [{ id: "a" }] }));
  const command = await prepareKeyCommand(t, { upstreams: { default: { baseUrl: upstream.baseUrl } } });
  const key = sentinelKey();
  const missing = await command.run(["test"]);
  assert.equal(missing.code, 1);
  assert.match(
    missing.err,
    /^error: no key "default" is stored .*\nhint: store it: tollkeeper key set default$/m,
  );

  await command.run(["set"], key);
  const accepted = await command.run(["test"]);
  assert.deepEqual([accepted.code, accepted.out], [0, `accepted by ${upstream.baseUrl}: 1 model\n`]);
  assert.equal(upstream.seen[0]?.headers.authorization, `Bearer ${key}`);

  upstream.answer((seen, res) =>
    answerJson(res, { error: { message: `bad ${seen.headers.authorization}` } }, 401),
  );
  const refused = await command.run(["test"]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.err,
    /^error: refused: .* answers 401: bad Bearer \*+\nhint: store another key: tollkeeper key set/,
  );
  assert.ok(!`${refused.out}${refused.err}`.includes(key));
});
