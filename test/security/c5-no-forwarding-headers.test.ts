// C5, local addresses: tollkeeper adds no forwarding header and passes none on, nor Origin and Referer. The Host is the upstream's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startGate } from "../helpers/gate/gate.ts";
import { valuesOf } from "../helpers/client/http-messages.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { echo, startRawUpstream } from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** Headers of proxies and CDNs that say where a request came from, on whose behalf, or what its target was. */
const FORWARDING = [
  "Forwarded",
  "X-Forwarded",
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "X-Forwarded-Proto",
  "X-Forwarded-Port",
  "X-Forwarded-Server",
  "X-Forwarded-Prefix",
  "X-Forwarded-Scheme",
  "X-Forwarded-By",
  "X-Forwarded-Client-Cert",
  "Forwarded-For",
  "X-Original-Forwarded-For",
  "Via",
  "X-Via",
  "X-Real-IP",
  "X-Client-IP",
  "Client-IP",
  "True-Client-IP",
  "CF-Connecting-IP",
  "CF-Connecting-IPv6",
  "Fastly-Client-IP",
  "X-Cluster-Client-IP",
  "X-Originating-IP",
  "X-Remote-IP",
  "X-Remote-Addr",
  "X-ProxyUser-IP",
  "WL-Proxy-Client-IP",
  "X-Azure-ClientIP",
  "X-Appengine-User-IP",
  "X-Envoy-External-Address",
  "X-Host",
  "X-Original-Host",
  "X-Original-URL",
  "X-Rewrite-URL",
];

const LOCAL = "10.1.2.3";

for (const spelling of ["as written", "in upper case", "with underscores"]) {
  test(`forwarding headers ${spelling} are not passed on, and none are added`, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo);
    const lines = FORWARDING.map((name) => {
      if (spelling === "in upper case") return `${name.toUpperCase()}: ${LOCAL}`;
      return `${spelling === "with underscores" ? name.replaceAll("-", "_") : name}: ${LOCAL}`;
    });
    const usual = [`Host: localhost:${gate.port}`, "Content-Type: application/json", "Accept: */*"];
    const own = [...usual, `Referer: http://localhost:${gate.port}/`, ...lines];
    const { status } = await exchangeRaw(t, gate.port, ["POST /v1/messages HTTP/1.1", ...own], "{}");
    assert.equal(status, 200);
    const [seen] = upstream.requests;
    assert.deepEqual(seen?.headers.map(([name]) => name).sort(), [
      "accept",
      "accept-encoding",
      "anthropic-version",
      "connection",
      "content-length",
      "content-type",
      "host",
      "x-api-key",
      // Says to a server on this machine that tollkeeper is in front of it, and nothing of the client.
      "x-tollkeeper-hop",
    ]);
    assert.deepEqual(valuesOf(seen, "host"), [new URL(upstream.origin).host]);
    assert.doesNotMatch(upstream.connections[0]?.received ?? "", /localhost|10\.1\.2\.3/);
  });
}

test("an allowed Origin is not passed on to the upstream", async (t) => {
  const upstream = await startRawUpstream(t, echo);
  const listen = { port: 0, socket: null, allowedHosts: [], allowedOrigins: ["vscode-webview://good"] };
  const gate = await startGate(t, upstream.baseUrl, { config: { listen } });
  const own = [
    `Host: localhost:${gate.port}`,
    "Origin: vscode-webview://good",
    "Referer: vscode-webview://good/x",
  ];
  const { status } = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", ...own]);
  assert.equal(status, 200);
  assert.doesNotMatch(upstream.connections[0]?.received ?? "", /origin|referer|webview/i);
});
