// D7, errors without a handler: no client and no upstream, whatever they do, ends the daemon or makes it fail for a reason of its own.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeCertificate } from "../helpers/upstream/certificate.ts";
import { launchDaemon, startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { ended as gone } from "../helpers/process/processes.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { NASTY_CLIENTS } from "./nasty-clients.ts";
import { NASTY_TLS, startNastyTls } from "./nasty-tls.ts";
import { NASTY_UPSTREAMS } from "./nasty-upstreams.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 20_000 };

/** So that what hangs is over soon. */
const LIMITS = { firstByteMs: 100, betweenBytesMs: 100, bodyIdleMs: 100 };

/** What the daemon says when something is wrong with itself. */
const OWN_FAULT = /"level":[56]0|of our own|Warning/i;

/** An upstream that answers as it should, in a configuration that has the tool `honest` for it. */
async function startHonest(t: TestContext) {
  const { baseUrl } = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const honest = keyInFile(t, baseUrl, TEST_KEY).config.upstreams.default;
  const upstreams: Record<string, { baseUrl: string; keySource: object }> = { default: honest, honest };
  const tools: Record<string, { upstream: string }> = { honest: { upstream: "honest" } };
  return { upstreams, tools };
}

/** Plays the upstream whose number the request's query names. */
function play(socket: Socket, request: string): void {
  const number = /^POST \S+\?upstream=(\d+) /.exec(request)?.[1];
  if (number === undefined) return;
  const nasty = Object.values(NASTY_UPSTREAMS)[Number(number)] ?? "";
  if (typeof nasty === "string") socket.end(nasty, "latin1");
  else nasty(socket);
}

/** Fails when the daemon does not serve, and names who was there last. */
async function assertServes({ url, stderr }: Daemon, last: string): Promise<void> {
  const body = "{}";
  const headers = { "content-type": "application/json" };
  const res = await fetch(`${url}/t/honest/v1/messages`, { method: "POST", headers, body }).catch(() => null);
  assert.equal(res?.status, 200, `${last} ended it, or its service:\n${stderr()}`);
  assert.deepEqual(await res.json(), MESSAGE);
}

/** Has the daemon log something, refused requests are, and fails when it then does not serve. */
async function assertLogsAndServes(daemon: Daemon, last: string): Promise<void> {
  assert.equal((await fetch(`${daemon.url}/nowhere`)).status, 404);
  await assertServes(daemon, last);
}

/** Fails, with the name of who is kept waiting, unless the connection is closed in reasonable time. */
async function ended(closed: Promise<string>, who: string): Promise<void> {
  const late = once(AbortSignal.timeout(10_000), "abort").then(() => null);
  assert.notEqual(await Promise.race([closed, late]), null, `${who} is kept waiting`);
}

test("one daemon outlives a hundred nasty clients and upstreams", { timeout: 60_000 }, async (t) => {
  const nasty = await startTcpUpstream(t, (socket) =>
    socket.setEncoding("latin1").on("data", (said) => play(socket, String(said))),
  );
  const { upstreams, tools } = await startHonest(t);
  upstreams["default"] = keyInFile(t, nasty.baseUrl, TEST_KEY).config.upstreams.default;
  const daemon = await startDaemon(t, {
    config: { upstreams, tools, limits: LIMITS, abort: { graceMs: 10 } },
  });
  const head = `HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nContent-Type: application/json\r\n`;

  for (const [number, name] of Object.keys(NASTY_UPSTREAMS).entries()) {
    const client = await rawClient(t, daemon.port);
    client.write(
      `POST /v1/messages?upstream=${number} ${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
    );
    await ended(client.closed, `the client of an upstream that ${name}`);
    await assertServes(daemon, `an upstream that ${name}`);
  }
  for (const [name, { says, ends }] of Object.entries(NASTY_CLIENTS)) {
    const { socket, closed } = await rawClient(t, daemon.port);
    for (const said of says(daemon.port)) {
      if (!socket.write(said, "latin1")) await Promise.race([once(socket, "drain"), closed]);
    }
    if (ends === "leave") socket.destroy();
    if (ends === "reset") socket.resetAndDestroy();
    if (ends === "half") socket.end();
    await ended(closed, `a client that ${name}`);
    await assertServes(daemon, `a client that ${name}`);
  }

  const { pid, openExchanges } = await daemon.status();
  assert.deepEqual([pid, openExchanges], [daemon.pid, 0]);
  assert.doesNotMatch(daemon.stderr(), OWN_FAULT);
  t.diagnostic(
    `${Object.keys(NASTY_UPSTREAMS).length} upstreams, ${Object.keys(NASTY_CLIENTS).length} clients`,
  );
});

test("a daemon outlives upstreams whose TLS is at fault, and says that they are", LIMIT, async (t) => {
  const certificate = makeCertificate(t, "IP:127.0.0.1");
  const { upstreams, tools } = await startHonest(t);
  for (const [number, nasty] of Object.values(NASTY_TLS).entries()) {
    const name = `tls${number}`;
    const baseUrl = await startNastyTls(t, certificate, nasty);
    const { keySource } = keyInFile(t, baseUrl, TEST_KEY).config.upstreams.default;
    upstreams[name] = { baseUrl, keySource };
    tools[name] = { upstream: name };
  }
  const env = { NODE_EXTRA_CA_CERTS: certificate.file };
  const daemon = await startDaemon(t, { config: { upstreams, tools, limits: LIMITS }, env });
  for (const [number, name] of Object.keys(NASTY_TLS).entries()) {
    const res = await post(daemon, `/t/tls${number}/v1/messages`, {});
    const refusal = res.headers.get("x-tollkeeper-refusal");
    assert.ok([502, 504].includes(res.status), `an upstream that ${name}: ${res.status}`);
    assert.match(refusal ?? "", /^upstream_(?:unreachable|broke|invalid|timeout)$/, name);
    await assertServes(daemon, `an upstream that ${name}`);
  }
  assert.doesNotMatch(daemon.stderr(), OWN_FAULT);
});

const COMMAND = "POST /status HTTP/1.1\r\nHost: daemon\r\n";

/** What is said on the control socket (latin1), and how its client then leaves. */
const NASTY_COMMANDS: [said: string, leave: (socket: Socket) => unknown][] = [
  ["", (socket) => socket.destroy()],
  ["\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03 and so on", (socket) => socket.end()],
  ["\0".repeat(100_000), (socket) => socket.end()],
  [COMMAND, (socket) => socket.destroy()],
  [COMMAND, (socket) => socket.end()],
  [`${COMMAND}Content-Length: 9\r\n\r\n{`, (socket) => socket.destroy()],
  [`${COMMAND}Upgrade: x\r\nConnection: upgrade\r\n\r\n`, (socket) => socket.end()],
  [`${COMMAND}\r\n`.repeat(100), (socket) => socket.destroy()],
];

test("a daemon outlives nasty clients of its control socket", LIMIT, async (t) => {
  const daemon = await startDaemon(t, { config: await startHonest(t) });
  const path = join(daemon.home, "run", "tollkeeper", "control.sock");
  for (const [said, leave] of NASTY_COMMANDS) {
    const socket = connect(path);
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await once(socket, "connect");
    socket.resume().write(said, "latin1", () => leave(socket));
    await closed;
    assert.equal((await daemon.status()).pid, daemon.pid);
    await assertServes(daemon, `a command of ${JSON.stringify(said.slice(0, 30))}`);
  }
});

test("a daemon whose words nobody reads lives on", LIMIT, async (t) => {
  const config = await startHonest(t);
  const daemon = await startDaemon(t, { config, isUnread: true, args: ["--debug"] });
  await assertServes(daemon, "a closed standard output");
  daemon.hangUp();
  process.kill(daemon.pid, "SIGHUP");
  await assertLogsAndServes(daemon, "a closed standard error");
});

/** Why no daemon can be given a terminal here; false when it can. */
const noTerminal =
  (process.platform !== "linux" || !existsSync("/usr/bin/script")) &&
  "needs Linux and script (apt-get install bsdutils), to give the daemon a terminal";

/** `script` gives a command a terminal, and takes it along when it goes. */
const ON_TERMINAL = ["bash", "-c", `exec script -qc "$(printf '%q ' "$@")" /dev/null`, "bash"];

test("a daemon whose terminal was closed lives on", { ...LIMIT, skip: noTerminal }, async (t) => {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const options = { config: await startHonest(t), launcher: ON_TERMINAL, args: ["--debug"] };
  const { ready, kill: closeTerminal } = launchDaemon(home, options);
  t.after(closeTerminal);
  const daemon = await ready;
  t.after(async () => {
    process.kill(daemon.pid, "SIGKILL");
    await gone(daemon.pid);
    rmSync(home, { recursive: true, force: true });
  });
  await closeTerminal();
  await assertLogsAndServes(daemon, "a closed terminal");
});
