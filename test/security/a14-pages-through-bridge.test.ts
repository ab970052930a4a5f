// A14, web pages and a bridge: a browser cannot open a Unix socket, but it can open the port of whatever passes connections on to it: a
// bridge in its container, ssh, or an editor that forwards ports. The port is unknown here, so only its number is not compared.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { FEEDS } from "../helpers/gate/feeds.ts";
import { startBridge } from "../helpers/remote/bridge.ts";
import { startSocketDaemon } from "../helpers/remote/socket-daemon.ts";
import { FOREIGN_HOSTS } from "./foreign-hosts.ts";

/** Starts a daemon and a bridge to it. `ask` replaces PORT by the bridge's. */
async function openBridge(t: TestContext, config: object = {}) {
  const { daemon, socket } = await startSocketDaemon(t, config);
  const bridge = await startBridge(t, socket);
  const ask = (line: string, ...fields: string[]) => {
    const lines = [`${line} HTTP/1.1`, ...fields].map((text) => text.replaceAll("PORT", String(bridge.port)));
    return exchangeRaw(t, bridge.port, lines, line.startsWith("POST") ? "{}" : "");
  };
  return { daemon, bridge, ask };
}

const JSON_TYPE = "Content-Type: application/json";

/** What is foreign on the port is not on the socket: the port of a bridge can be any. */
const OWN_THROUGH_BRIDGE = ["127.0.0.1", "localhost", "[::1]", "127.0.0.1:1", "127.0.0.1:PORT0"];

test("every Host but a loopback name is refused through a bridge, whatever its port", async (t) => {
  const { daemon, ask } = await openBridge(t);
  const foreign = FOREIGN_HOSTS.filter((host) => !OWN_THROUGH_BRIDGE.includes(host));
  for (const host of [...foreign, "localhost:0", "localhost:65536", "localhost:PORT:1", "[::1]PORT"]) {
    for (const line of ["POST /v1/messages", "GET /v1/models", "GET /"]) {
      const { status, refusal } = await ask(line, `Host: ${host}`, JSON_TYPE);
      assert.deepEqual([host, line, status, refusal], [host, line, 403, "host_not_allowed"]);
    }
  }
  assert.equal(
    (await ask("GET /v1/models", "Host: localhost:PORT", "Host: localhost:PORT")).refusal,
    "host_not_allowed",
  );
  for (const host of ["localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "LocalHost:1", "localhost"])
    assert.equal((await ask("GET /v1/models", `Host: ${host}`)).status, 200, host);
  assert.equal((await daemon.ledger()).length, 5, "a refused request leaves no record");
});

/** Headers of pages: rebound ones never get here. Those of another port of localhost, and of the bridge's own. */
const PAGES: string[][] = [
  ["Origin: https://evil.example"],
  ["Origin: http://localhost:3000"],
  ["Origin: http://localhost:PORT"],
  ["Origin: null"],
  ["Referer: https://evil.example/"],
  ["Referer: http://localhost:3000/"],
  ["Referer: http://localhost:PORT.evil.example/"],
  ["Referer: http://localhost/"],
  ["Sec-Fetch-Site: cross-site"],
  ["Sec-Fetch-Site: same-site"],
  ["Sec-Fetch-Site: same-origin", "Origin: http://localhost:PORT"],
];

test("a page of another origin, or of another port of localhost, is refused through a bridge", async (t) => {
  const { daemon, ask } = await openBridge(t);
  for (const headers of PAGES) {
    for (const line of ["POST /v1/messages", "GET /v1/models", "GET /"]) {
      const { status, refusal } = await ask(line, "Host: localhost:PORT", JSON_TYPE, ...headers);
      assert.deepEqual([headers, line, status, refusal], [headers, line, 403, "origin_not_allowed"]);
    }
  }
  const own = await ask(
    "GET /",
    "Host: localhost:PORT",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Dest: document",
    "Referer: http://localhost:PORT/",
    "Accept: text/html",
  );
  assert.equal(own.status, 200);
  assert.deepEqual(await daemon.ledger(), []);
});

test("whoever comes through the socket gets no feed without a session, and none changes anything", async (t) => {
  const { daemon, ask } = await openBridge(t);
  for (const feed of ["status", "usage", "records", "running", "live", "cost"]) {
    const { status, text } = await ask(`GET ${FEEDS}/${feed}`, "Host: localhost:PORT");
    assert.equal(status, 401, feed);
    assert.doesNotMatch(text, /"pid"|listening/);
  }
  const direct = await fetch(`${daemon.url}${FEEDS}/status`);
  assert.equal(direct.status, 200, "our own user on the port needs none");
  for (const path of ["status", "tail", "lease?tool=x&hash=y", "stop"])
    assert.equal((await ask(`POST /${path}`, "Host: localhost:PORT", JSON_TYPE)).status, 404, path);
});

test("a local token is demanded through the socket as on the port, and names the tool", async (t) => {
  const { daemon, ask } = await openBridge(t, { access: "token" });
  assert.equal((await ask("GET /t/codex/v1/models", "Host: localhost:PORT")).refusal, "token_required");
  const { stdout } = await daemon.command("token", "add", "in-container");
  const token = stdout.trim();
  assert.equal(
    (await ask("GET /t/codex/v1/models", "Host: localhost:PORT", `Authorization: Bearer ${token}`)).status,
    200,
  );
  const records = await daemon.ledger();
  assert.deepEqual(records.map(({ tool, tool_by, process }) => [tool, tool_by, process]).at(-1), [
    "in-container",
    "token",
    null,
  ]);
});
