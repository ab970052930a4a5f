import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { fetchModels } from "../../../src/proxy/upstream/fetch-models.ts";
import { defaultConfig, createUpstream, type Upstream } from "../../../src/core/config/config.ts";
import { Failure } from "../../../src/core/failure.ts";
import { resolveKeyRef } from "../../../src/core/policy/configured-keys.ts";
import type { Outbound } from "../../../src/core/config/outbound.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import {
  outboundThrough,
  startConnectProxy,
  startRemoteUpstream,
} from "../../helpers/upstream/connect-proxy.ts";
import { prepareKeyCommand, sentinelKey } from "../../helpers/keychain/key-command.ts";
import { noKeyring } from "../../helpers/keychain/keychain-session.ts";
import { startRawUpstream } from "../../helpers/upstream/raw-upstream.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

const DIRECT = defaultConfig.outbound;

/** Returns the failure of a key check, after asserting that it does not contain the key. */
async function failureOf(upstream: Upstream, key: string): Promise<Failure> {
  const error: unknown = await fetchModels(upstream, new Secret(key), DIRECT).catch(
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure);
  assert.ok(
    !`${error.stack} ${error.hint} ${JSON.stringify(error)}`.includes(key),
    "the key is in the failure",
  );
  return error;
}

test("fetchModels returns the number of models that an accepted key may use", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) =>
    sendJson(res, { data: [{ id: "a" }, { id: "b" }] }),
  );
  const key = sentinelKey();
  const address = createUpstream("default", upstream.baseUrl);
  assert.equal((await fetchModels(address, new Secret(key), DIRECT)).models, 2);
  const [seen] = upstream.seen;
  assert.deepEqual([seen?.method, seen?.url], ["GET", "/v1/models"]);
  assert.equal(seen?.headers.authorization, `Bearer ${key}`);
  assert.equal(seen?.headers["x-api-key"], undefined);
});

for (const [what, respond, message, hint] of [
  [
    "a web page",
    (res) => res.setHeader("content-type", "text/html").end("<html>"),
    /a web page \(200\)/,
    /^see what responds: curl -sSi http.*\/v1\/models$/,
  ],
  [
    "a login page",
    (res) => res.writeHead(403, { "content-type": "text/html" }).end("<html>"),
    /a web page \(403\)/,
    /^see what responds: curl -sSi /,
  ],
  [
    "a redirect to a login",
    (res) => res.writeHead(302, { location: "/login?token=abc" }).end(),
    /\/v1\/models redirects to http:\/\/127\.0\.0\.1:\d+\/login \(302\), and tollkeeper never follows a redirect$/,
    /^see where it leads: curl -sSi http:\/\/127\.0\.0\.1:\d+\/v1\/models$/,
  ],
  [
    "a redirect to the API's own address",
    (res) => res.writeHead(308, { location: "https://api.example/v2/models?a=b" }).end(),
    /\/v1\/models redirects to https:\/\/api\.example\/v2\/models \(308\)/,
    /^if that is the API, type: tollkeeper config set upstreams\.default\.baseUrl https:\/\/api\.example\/v2$/,
  ],
  [
    "a redirect to nowhere",
    (res) => res.writeHead(301, { location: "http://" }).end(),
    /\/v1\/models redirects \(301\)/,
    /^see where it leads: curl /,
  ],
  ["404", (res) => res.writeHead(404).end(), /responded with 404/, /config edit$/],
  ["something else", (res) => res.end("[]"), /something other than a list of models/, /config edit$/],
] as [string, (res: ServerResponse) => unknown, RegExp, RegExp][]) {
  test(`an upstream that responds with ${what} has not accepted the key, and the likely base URL is suggested`, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => respond(res));
    const failure = await failureOf(createUpstream("default", upstream.baseUrl), sentinelKey());
    assert.match(failure.message, message);
    assert.match(failure.hint ?? "", hint);
  });
}

test("the base URL that is suggested is the origin's API path", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => res.writeHead(404).end());
  const origin = new URL(upstream.baseUrl).origin;
  const { hint } = await failureOf(createUpstream("work", `${origin}/api`), sentinelKey());
  assert.equal(
    hint,
    `the base URL is probably ${origin}/v1; to use it, type: tollkeeper config set upstreams.work.baseUrl ${origin}/v1`,
  );
});

test("the failure for a refused key quotes the upstream's message with the key redacted", async (t) => {
  const key = sentinelKey();
  const upstream = await startUpstream(t, (_seen, res) =>
    sendJson(res, { error: { message: `Incorrect API key: ${key}\u001b[2J` } }, 401),
  );
  const failure = await failureOf(createUpstream("default", upstream.baseUrl), key);
  const stars = "*".repeat(key.length);
  assert.equal(
    failure.message,
    `the key was rejected: ${upstream.baseUrl} responded with 401: Incorrect API key: ${stars}\\u001b[2J`,
  );
  upstream.respondWith((_seen, res) => res.writeHead(403).end(`no ${"x".repeat(290)} ${key}`));
  assert.match(
    (await failureOf(createUpstream("default", upstream.baseUrl), key)).message,
    /responded with 403: no x+ \*+$/,
  );
});

/** Returns the hint of the failure for a key with this name. */
async function hintOf(address: Upstream, key: string | null): Promise<string | undefined> {
  const ref = resolveKeyRef(address, key);
  const error: unknown = await fetchModels(address, new Secret("k"), DIRECT, ref).catch(
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure);
  return error.hint;
}

test("the hint about a rejected key names the command for just that key", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}, 401));
  const work = createUpstream("work", upstream.baseUrl);
  assert.equal(
    await hintOf(work, "codex"),
    "if the key is wrong, replace it with: tollkeeper key set codex --upstream work --replace",
  );
  assert.equal(
    await hintOf({ ...work, keySource: { kind: "none" } }, null),
    'to send a key, remove "auth" with: tollkeeper config edit',
  );
});

test("a 503 response leaves undecided whether the key is accepted", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { error: { message: "busy" } }, 503));
  const failure = await failureOf(createUpstream("default", upstream.baseUrl), sentinelKey());
  assert.match(failure.message, /^the key could not be verified: .* responded with 503: busy$/);
});

test("an upstream that sends interim responses without end is given up", { timeout: 300_000 }, async (t) => {
  const upstream = await startRawUpstream(t, (_request, { socket }) => {
    const more = () => {
      while (!socket.destroyed && socket.write("HTTP/1.1 102 Processing\r\n\r\n".repeat(100)));
    };
    socket.on("drain", more);
    more();
  });
  const failure = await failureOf(createUpstream("default", upstream.baseUrl), sentinelKey());
  assert.match(failure.message, /: it sent too many interim responses \(1xx\)$/);
  await upstream.connections[0]?.closed;
});

test("an upstream that resets or refuses the connection is unreachable", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => {
    res.writeHead(200, { "content-length": 10 });
    res.write("{", () => res.destroy());
  });
  const address = createUpstream("default", upstream.baseUrl);
  assert.match((await failureOf(address, sentinelKey())).message, /^cannot connect to .*ECONNRESET/);
  upstream.server.close();
  upstream.server.closeAllConnections();
  await once(upstream.server, "close");
  assert.match((await failureOf(address, sentinelKey())).message, /^cannot connect to .*ECONNREFUSED/);
});

test("fetchModels goes through the outbound proxy and reports proxy, TLS and times", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  const far = await startRemoteUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port });
  const key = sentinelKey();
  const asked = fetchModels(
    createUpstream("default", far.baseUrl),
    new Secret(key),
    outboundThrough(proxy, far),
  );
  const { connectMs, responseMs, tls, date, ...rest } = await asked;
  assert.deepEqual(rest, { models: 0, proxy: proxy.url });
  assert.ok(connectMs > 0 && responseMs > 0 && date !== null);
  assert.equal(tls?.protocol, "TLSv1.3");
  assert.equal(tls.certificateEnds.getTime(), Date.parse(new X509Certificate(far.certificate.cert).validTo));
  const [seen] = upstream.seen;
  assert.deepEqual(
    [seen?.headers.host, seen?.headers.authorization],
    ["api.far.invalid:4711", `Bearer ${key}`],
  );
  assert.ok(!proxy.received().includes(key));
});

test("fetchModels reports no TLS and no proxy for a direct connection over plain http", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  const { tls, proxy } = await fetchModels(
    createUpstream("default", upstream.baseUrl),
    new Secret("k"),
    DIRECT,
  );
  assert.deepEqual([tls, proxy], [null, null]);
});

test("failures of proxy and certificate name the setting that fixes them", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  const far = await startRemoteUpstream(t, upstream);
  const proxy = await startConnectProxy(t, { to: far.port });
  const outbound = outboundThrough(proxy, far);
  const failureThrough = async (settings: Outbound) => {
    const asked = fetchModels(createUpstream("default", far.baseUrl), new Secret("k"), settings);
    const failure: unknown = await asked.catch((reason: unknown) => reason);
    assert.ok(failure instanceof Failure);
    return [failure.message, failure.hint];
  };
  assert.deepEqual(await failureThrough({ ...outbound, authorities: [] }), [
    `cannot connect to ${far.origin}: its certificate is self-signed, DEPTH_ZERO_SELF_SIGNED_CERT`,
    'if your network has a certificate authority of its own, name its file in "outbound.caFile" with: tollkeeper config edit',
  ]);
  proxy.server.close();
  assert.deepEqual(await failureThrough(outbound), [
    `cannot connect to ${far.origin}: the proxy cannot be reached: connection refused, ECONNREFUSED`,
    'correct "outbound.httpsProxy" with: tollkeeper config edit',
  ]);
});

test(
  "key test sends the stored key and reports whether it is missing, accepted or refused",
  { skip: noKeyring },
  async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [{ id: "a" }] }));
    const command = await prepareKeyCommand(t, { upstreams: { default: { baseUrl: upstream.baseUrl } } });
    const key = sentinelKey();
    const missing = await command.run(["test"]);
    assert.equal(missing.code, 1);
    assert.match(missing.err, /^error: no key "default" is stored .*\nhint: store it: tollkeeper key set$/m);

    await command.run(["set"], key);
    const accepted = await command.run(["test"]);
    assert.deepEqual(
      [accepted.code, accepted.out],
      [0, `${upstream.baseUrl} accepts the key "default" and lists 1 model.\n`],
    );
    assert.equal(upstream.seen[0]?.headers.authorization, `Bearer ${key}`);

    upstream.respondWith((seen, res) =>
      sendJson(res, { error: { message: `bad ${seen.headers.authorization}` } }, 401),
    );
    const refused = await command.run(["test"]);
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /^note: no daemon runs .*\nerror: the key was rejected: .* responded with 401: bad Bearer \*+\nhint: if the key is wrong, replace it with: tollkeeper key set --replace/,
    );
    assert.ok(!`${refused.out}${refused.err}`.includes(key));
  },
);
