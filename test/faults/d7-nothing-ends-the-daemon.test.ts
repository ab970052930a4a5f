// D7, unhandled errors: nothing that a client or an upstream does ends the daemon or causes an internal error in it.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeCertificate } from "../helpers/upstream/certificate.ts";
import { launchDaemon, startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { waitForExit as gone } from "../helpers/process/processes.ts";
import { rawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE, startUpstream, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { removeDirectory } from "../helpers/process/scratch-directory.ts";
import { MALICIOUS_CLIENTS } from "./malicious-clients.ts";
import { BROKEN_TLS, startBrokenTls } from "./broken-tls.ts";
import { MALICIOUS_UPSTREAMS } from "./malicious-upstreams.ts";

const LIMIT = { timeout: 300_000 };

/** Short, so that hanging requests end soon. */
const LIMITS = { firstByteMs: 100, betweenBytesMs: 100, bodyIdleMs: 100 };

/** What the daemon logs when something is wrong with itself. */
const OWN_FAULT = /"level":[56]0|of our own|Warning/i;

/** Starts an upstream that responds correctly. Returns a configuration in which the tool `honest` uses it. */
async function startWellBehaved(t: TestContext) {
  const { baseUrl } = await startUpstream(t, respondWithMessage);
  const honest = writeKeyFile(t, baseUrl, TEST_KEY).config.upstreams.default;
  const upstreams: Record<string, { baseUrl: string; keySource: object }> = { default: honest, honest };
  const tools: Record<string, { upstreams: string[] }> = { honest: { upstreams: ["honest"] } };
  return { upstreams, tools };
}

/** Acts as the malicious upstream whose number is in the request's query. */
function misbehave(socket: Socket, request: string): void {
  const number = /^POST \S+\?upstream=(\d+) /.exec(request)?.[1];
  if (number === undefined) return;
  const upstream = Object.values(MALICIOUS_UPSTREAMS)[Number(number)] ?? "";
  if (typeof upstream === "string") socket.end(upstream, "latin1");
  else upstream(socket);
}

/** Fails, naming the last visitor, when the daemon does not serve. */
async function assertServes({ url, stderr }: Daemon, last: string): Promise<void> {
  const body = "{}";
  const headers = { "content-type": "application/json" };
  const ask = () => fetch(`${url}/t/honest/v1/messages`, { method: "POST", headers, body }).catch(() => null);
  let res = await ask();
  // The short limits hold for the well-behaved upstream too, which a busy machine may stop for longer. One that never responds ends the test.
  while (res?.status === 504) res = await ask();
  assert.equal(res?.status, 200, `${last} ended it, or its service:\n${stderr()}`);
  assert.deepEqual(await res.json(), MESSAGE);
}

/** Makes the daemon log a refused request, and fails when it does not serve afterwards. */
async function assertLogsAndServes(daemon: Daemon, last: string): Promise<void> {
  assert.equal((await fetch(`${daemon.url}/nowhere`)).status, 404);
  await assertServes(daemon, last);
}

/** Fails, naming the client, unless its connection is closed: sixty seconds are longer than any limit here. */
async function assertCloses(closed: Promise<string>, client: string): Promise<void> {
  const late = once(AbortSignal.timeout(60_000), "abort").then(() => null);
  assert.notEqual(await Promise.race([closed, late]), null, `${client} is kept waiting`);
}

test("a daemon survives a hundred malicious clients and upstreams", { timeout: 300_000 }, async (t) => {
  const malicious = await startTcpUpstream(t, (socket) =>
    socket.setEncoding("latin1").on("data", (text) => misbehave(socket, String(text))),
  );
  const { upstreams, tools } = await startWellBehaved(t);
  upstreams["default"] = writeKeyFile(t, malicious.baseUrl, TEST_KEY).config.upstreams.default;
  const daemon = await startDaemon(t, {
    config: { upstreams, tools, limits: LIMITS, abort: { graceMs: 10 } },
  });
  const head = `HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nContent-Type: application/json\r\n`;

  for (const [number, name] of Object.keys(MALICIOUS_UPSTREAMS).entries()) {
    const client = await sendRaw(
      t,
      daemon.port,
      `POST /v1/messages?upstream=${number} ${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
    );
    await assertCloses(client.closed, `the client of an upstream that ${name}`);
    await assertServes(daemon, `an upstream that ${name}`);
  }
  for (const [name, { send, leave }] of Object.entries(MALICIOUS_CLIENTS)) {
    const { socket, closed } = await rawClient(t, daemon.port);
    for (const text of send(daemon.port)) {
      if (!socket.write(text, "latin1")) await Promise.race([once(socket, "drain"), closed]);
    }
    if (leave === "leave") socket.destroy();
    if (leave === "reset") socket.resetAndDestroy();
    if (leave === "half") socket.end();
    await assertCloses(closed, `a client that ${name}`);
    await assertServes(daemon, `a client that ${name}`);
  }

  const { pid, openExchanges } = await daemon.status();
  assert.deepEqual([pid, openExchanges], [daemon.pid, 0]);
  assert.doesNotMatch(daemon.stderr(), OWN_FAULT);
  t.diagnostic(
    `${Object.keys(MALICIOUS_UPSTREAMS).length} upstreams, ${Object.keys(MALICIOUS_CLIENTS).length} clients`,
  );
});

test(
  "a daemon survives upstreams whose TLS is broken, and blames the upstream in its refusals",
  LIMIT,
  async (t) => {
    const certificate = makeCertificate(t, "IP:127.0.0.1");
    const { upstreams, tools } = await startWellBehaved(t);
    for (const [number, brokenTls] of Object.values(BROKEN_TLS).entries()) {
      const name = `tls${number}`;
      const baseUrl = await startBrokenTls(t, certificate, brokenTls);
      const { keySource } = writeKeyFile(t, baseUrl, TEST_KEY).config.upstreams.default;
      upstreams[name] = { baseUrl, keySource };
      tools[name] = { upstreams: [name] };
    }
    const env = { NODE_EXTRA_CA_CERTS: certificate.file };
    const daemon = await startDaemon(t, { config: { upstreams, tools, limits: LIMITS }, env });
    for (const [number, name] of Object.keys(BROKEN_TLS).entries()) {
      const refusal = await post(daemon, `/t/tls${number}/v1/messages`, {}).then(
        (res) => res.headers.get("x-tollkeeper-refusal") ?? "forwarded",
        () => "reset",
      );
      assert.match(refusal, /^(?:reset|upstream_(?:unreachable|misconfigured|invalid|timeout))$/, name);
      await assertServes(daemon, `an upstream that ${name}`);
    }
    assert.doesNotMatch(daemon.stderr(), OWN_FAULT);
  },
);

const COMMAND = "POST /status HTTP/1.1\r\nHost: daemon\r\n";

/** What a client sends on the control socket (latin1), and how it disconnects. */
const MALICIOUS_COMMANDS: [text: string, leave: (socket: Socket) => unknown][] = [
  ["", (socket) => socket.destroy()],
  ["\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03 and so on", (socket) => socket.end()],
  ["\0".repeat(100_000), (socket) => socket.end()],
  [COMMAND, (socket) => socket.destroy()],
  [COMMAND, (socket) => socket.end()],
  [`${COMMAND}Content-Length: 9\r\n\r\n{`, (socket) => socket.destroy()],
  [`${COMMAND}Upgrade: x\r\nConnection: upgrade\r\n\r\n`, (socket) => socket.end()],
  [`${COMMAND}\r\n`.repeat(100), (socket) => socket.destroy()],
];

test("a daemon survives malicious clients of its control socket", LIMIT, async (t) => {
  const daemon = await startDaemon(t, { config: await startWellBehaved(t) });
  const path = join(daemon.home, "run", "tollkeeper", "control.sock");
  for (const [text, leave] of MALICIOUS_COMMANDS) {
    const socket = connect(path);
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await once(socket, "connect");
    socket.resume().write(text, "latin1", () => leave(socket));
    await closed;
    assert.equal((await daemon.status()).pid, daemon.pid);
    await assertServes(daemon, `a command of ${JSON.stringify(text.slice(0, 30))}`);
  }
});

test("a daemon survives when its standard output and standard error are closed", LIMIT, async (t) => {
  const config = await startWellBehaved(t);
  const daemon = await startDaemon(t, { config, isOutputClosed: true, args: ["--debug"] });
  await assertServes(daemon, "a closed standard output");
  daemon.closeOutputs();
  process.kill(daemon.pid, "SIGHUP");
  await assertLogsAndServes(daemon, "a closed standard error");
});

/** Why a daemon cannot be given a terminal here, for `test(..., { skip })`; false when it can. */
const noTerminal =
  (process.platform !== "linux" || !existsSync("/usr/bin/script")) &&
  "needs Linux and script (apt-get install bsdutils), to give the daemon a terminal";

/** Runs a command on a terminal that is closed when `script` ends. */
const ON_TERMINAL = ["bash", "-c", `exec script -qc "$(printf '%q ' "$@")" /dev/null`, "bash"];

test("a daemon survives when its terminal is closed", { ...LIMIT, skip: noTerminal }, async (t) => {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const options = { config: await startWellBehaved(t), launcher: ON_TERMINAL, args: ["--debug"] };
  const { ready, kill: closeTerminal } = launchDaemon(home, options);
  t.after(closeTerminal);
  const daemon = await ready;
  t.after(async () => {
    process.kill(daemon.pid, "SIGKILL");
    await gone(daemon.pid);
    removeDirectory(home);
  });
  await closeTerminal();
  await assertLogsAndServes(daemon, "a closed terminal");
});
