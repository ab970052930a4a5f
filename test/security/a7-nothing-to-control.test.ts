// A7, control endpoints: the TCP port has a page that is the same for everybody, an answer to health checks, and no control endpoint; any
// future one is under the same admission. The daemon is controlled through a Unix socket that only its owner can reach.
import assert from "node:assert/strict";
import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { DaemonStatus } from "../../src/daemon/status.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { curlAs, NOBODY, noOtherUser } from "../helpers/process/other-user.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

const HEALTH = "/_tollkeeper/healthz";

/** Paths for a page, for health and metrics endpoints, and every command of the control socket. */
const PATHS = [
  "/",
  "/index.html",
  "/_tollkeeper",
  "/_tollkeeper/",
  HEALTH,
  "/_tollkeeper/metrics",
  "/_tollkeeper/usage",
  "/_tollkeeper/status",
  "/_tollkeeper/reload",
  "/_tollkeeper/keys-changed",
  "/_tollkeeper/tokens-changed",
  "/_tollkeeper/lease?tool=codex",
  "/t/codex/_tollkeeper/reload",
  "/status",
  "/reload",
  "/keys-changed",
  "/tokens-changed",
  "/lease?tool=codex",
];

/** Local paths, and the status of what they respond to GET. The system does not say here who asks, so the metrics are refused. */
const ANSWERED: Record<string, number> = { [HEALTH]: 200, "/_tollkeeper/metrics": 403 };

/** Opens a gate and sends one request, so that it has a key in memory and a record. */
async function openGate(t: TestContext) {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  await (await post(gate, "/v1/messages", {})).text();
  return { upstream, gate };
}

for (const path of PATHS) {
  test(`no method has any effect on ${path}`, async (t) => {
    const { upstream, gate } = await openGate(t);
    const { settings } = gate.gate;
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const headers = { "content-type": "application/json" };
      const res = await fetch(gate.url + path, { method, headers });
      const answered = method === "GET" ? ANSWERED[path] : undefined;
      assert.deepEqual(
        [method, res.status, res.headers.get("x-tollkeeper-refusal")],
        answered === undefined ? [method, 404, "not_found"] : [method, answered, null],
      );
      await res.text();
    }
    await (await post(gate, "/v1/messages", {})).text();
    assert.equal(gate.gate.settings, settings);
    assert.deepEqual([gate.keys.reads, upstream.seen.length, gate.ledger.records.length], [1, 2, 2]);
  });

  test(`requests for ${path} are subject to admission`, async (t) => {
    const { gate } = await openGate(t);
    const line = `GET ${path} HTTP/1.1`;
    const rebound = await exchangeRaw(t, gate.port, [line, "Host: evil.example"]);
    const fields = [`Host: 127.0.0.1:${gate.port}`, "Sec-Fetch-Site: cross-site"];
    const crossSite = await exchangeRaw(t, gate.port, [line, ...fields]);
    assert.deepEqual([rebound.refusal, crossSite.refusal], ["host_not_allowed", "origin_not_allowed"]);
  });
}

test("our own responses cannot be taken for a page, and echo nothing of the request but plain characters of its path", async (t) => {
  const { gate } = await openGate(t);
  const line = "GET /<script>alert(1)</script>?<script> HTTP/1.1";
  const fields = [`Host: 127.0.0.1:${gate.port}`, "User-Agent: <script>", "Accept: text/html"];
  const { headers, text } = await exchangeRaw(t, gate.port, [line, ...fields]);
  const named = Object.fromEntries(headers);
  assert.deepEqual([named["content-type"], named["x-content-type-options"]], ["application/json", "nosniff"]);
  assert.doesNotMatch(text, /[<>()]|\?\?script/);
  assert.match(text, /there is no route GET \/\?script\?alert\?1\?\?\/script\? /);
});

/** What browsers send when a person types the address. */
const NAVIGATION = ["Accept: text/html", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"];

test("the page at the root says nothing of the daemon or the request, and nothing inline, foreign or framed is allowed in it", async (t) => {
  const { upstream, gate } = await openGate(t);
  const host = `Host: 127.0.0.1:${gate.port}`;
  const plain = await exchangeRaw(t, gate.port, ["GET / HTTP/1.1", host, ...NAVIGATION]);
  const marked = ["GET /?<script>mark HTTP/1.1", host, "User-Agent: <script>mark", ...NAVIGATION];
  const other = await exchangeRaw(t, gate.port, marked);
  assert.deepEqual([plain.status, other.status, other.text], [200, 200, plain.text]);
  const facts = [String(gate.port), new URL(upstream.origin).host, TEST_KEY, process.version];
  for (const fact of facts) assert.ok(!plain.text.includes(fact), fact);
  assert.doesNotMatch(plain.text, /<(?:style|img|iframe|form|base)|\bon\w+=|<script>/i);
  const loaded = [...plain.text.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, url]) => url);
  const files = ["style.css", "app.js", "health.js", "record.js", "sessions.js"];
  assert.deepEqual(loaded, ["data:,", ...files.map((name) => `/_tollkeeper/dashboard/${name}`)]);
  const { "content-security-policy": policy, ...named } = Object.fromEntries(plain.headers);
  assert.deepEqual(policy?.split("; ").sort(), [
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src data:",
    "require-trusted-types-for 'script'",
    "script-src 'self'",
    "style-src 'self'",
    "trusted-types 'none'",
  ]);
  assert.deepEqual([named["x-content-type-options"], named["x-frame-options"]], ["nosniff", "DENY"]);
  assert.ok(!("set-cookie" in named) && !("access-control-allow-origin" in named));
});

test("the page at the root is subject to admission", async (t) => {
  const { gate } = await openGate(t);
  const ask = (...fields: string[]) =>
    exchangeRaw(t, gate.port, ["GET / HTTP/1.1", "Accept: text/html", ...fields]);
  const own = `Host: 127.0.0.1:${gate.port}`;
  const rebound = await ask("Host: evil.example", "Sec-Fetch-Site: none");
  const crossSite = await ask(own, "Sec-Fetch-Site: cross-site");
  const linked = await ask(own, "Referer: https://evil.example/");
  assert.deepEqual(
    [rebound.refusal, crossSite.refusal, linked.refusal],
    ["host_not_allowed", "origin_not_allowed", "origin_not_allowed"],
  );
});

/** A status without its times, the count of refused requests, and what others leave on the disk. */
function withoutTimes({ at: _told, refused: _count, config, ledger, ...rest }: DaemonStatus) {
  const { judgedAt: _looked, ...steady } = config;
  const { freeBytes: _free, ...own } = ledger;
  return { ...rest, config: steady, ledger: own };
}

test("a daemon accepts no command of its control socket over TCP", async (t) => {
  const daemon = await startDaemon(t);
  const before = withoutTimes(await daemon.status());
  for (const command of ["status", "reload", "keys-changed", "tokens-changed", "drain", "tail", "lease"]) {
    for (const below of ["", "/_tollkeeper"]) {
      const res = await fetch(`${daemon.url}${below}/${command}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
      });
      assert.equal(res.status, 404);
      await res.text();
    }
  }
  assert.deepEqual(withoutTimes(await daemon.status()), before);
  assert.doesNotMatch(daemon.stderr(), /reloaded/);
});

test(
  "another user cannot connect to the control socket, because of its directory's mode and of its own",
  { skip: noOtherUser },
  async (t) => {
    const daemon = await startDaemon(t);
    const socket = join(daemon.home, "run", "tollkeeper", "control.sock");
    assert.deepEqual([statSync(socket).mode & 0o777, statSync(dirname(socket)).mode & 0o777], [0o600, 0o700]);
    const ask = (uid: number) => curlAs(uid, "--unix-socket", socket, "http://localhost/status");
    for (const above of [daemon.home, join(daemon.home, "run")]) chmodSync(above, 0o755);
    assert.equal((await ask(NOBODY)).exitCode, CANNOT_CONNECT);
    chmodSync(dirname(socket), 0o755);
    assert.equal((await ask(NOBODY)).exitCode, CANNOT_CONNECT);
    assert.equal((await ask(0)).status, 200);
  },
);

/** curl(1), "EXIT CODES". */
const CANNOT_CONNECT = 7;
