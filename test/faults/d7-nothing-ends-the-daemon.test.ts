// D7, errors without a handler: no client and no upstream, whatever they do, ends the daemon or makes it fail for a reason of its own.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon.ts";
import { TEST_KEY } from "../helpers/gate.ts";
import { keyInFile } from "../helpers/key-file.ts";
import { rawClient } from "../helpers/raw-client.ts";
import { startTcpUpstream } from "../helpers/tcp-upstream.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream.ts";
import { NASTY_CLIENTS } from "./nasty-clients.ts";
import { NASTY_UPSTREAMS } from "./nasty-upstreams.ts";

/** So that what hangs is over soon. */
const LIMITS = { firstByteMs: 100, betweenBytesMs: 100, bodyIdleMs: 100 };

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

/** Fails, with the name of who is kept waiting, unless the connection is closed in reasonable time. */
async function ended(closed: Promise<string>, who: string): Promise<void> {
  const late = once(AbortSignal.timeout(10_000), "abort").then(() => null);
  assert.notEqual(await Promise.race([closed, late]), null, `${who} is kept waiting`);
}

test("one daemon outlives a hundred nasty clients and upstreams", { timeout: 60_000 }, async (t) => {
  const nasty = await startTcpUpstream(t, (socket) =>
    socket.setEncoding("latin1").on("data", (said) => play(socket, String(said))),
  );
  const honest = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { keySource } = keyInFile(t, nasty.baseUrl, TEST_KEY).config.upstreams.default;
  const upstreams = {
    default: { baseUrl: nasty.baseUrl, keySource },
    honest: { baseUrl: honest.baseUrl, keySource },
  };
  const tools = { honest: { upstream: "honest" } };
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
  assert.doesNotMatch(daemon.stderr(), /"level":[56]0|of our own|Warning/i);
  t.diagnostic(
    `${Object.keys(NASTY_UPSTREAMS).length} upstreams, ${Object.keys(NASTY_CLIENTS).length} clients`,
  );
});
