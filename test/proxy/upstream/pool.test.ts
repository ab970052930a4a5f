import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { REST_MS } from "../../../src/proxy/upstream/connection.ts";
import { UpstreamPool } from "../../../src/proxy/upstream/pool.ts";
import { ManualClock } from "../../helpers/gate/memory.ts";
import { openPool, readAll, sendGet, waitForRelease, type PooledRequest } from "../../helpers/client/pool.ts";
import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import {
  sendJson,
  startHeldUpstream,
  startUpstream,
  type Script,
} from "../../helpers/upstream/scripted-upstream.ts";
import { startFullListener, startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { countConnections } from "../count-connections.ts";

/** Responds with this `keep-alive` header; null for none, as most upstreams do. Node's server would announce 5 s. */
function announce(keepAlive: string | null): Script {
  return (_seen, res) => {
    res.setHeader("connection", "keep-alive");
    if (keepAlive !== null) res.setHeader("keep-alive", keepAlive);
    sendJson(res, {});
  };
}

/** An upstream, a pool of connections to it, and the pool's clock. */
async function startPool(t: TestContext, script: Script = announce(null)) {
  const upstream = await startUpstream(t, script);
  return { upstream, ...openPool(t, upstream.origin) };
}

test("of two idle connections that have rested the most recently used one is taken first", async (t) => {
  const { pool, clock } = await startPool(t);
  const [first, second] = await Promise.all([waitForRelease(sendGet(pool)), waitForRelease(sendGet(pool))]);
  assert.notEqual(first, second);
  clock.advance(REST_MS);
  assert.equal(await waitForRelease(sendGet(pool)), second);
  clock.advance(REST_MS);
  const both = await Promise.all([waitForRelease(sendGet(pool)), waitForRelease(sendGet(pool))]);
  assert.deepEqual(new Set(both), new Set([first, second]));
});

test("a connection that has rested is preferred to one that was used after it", async (t) => {
  const { pool, clock } = await startPool(t);
  const [first, second] = await Promise.all([waitForRelease(sendGet(pool)), waitForRelease(sendGet(pool))]);
  clock.advance(REST_MS);
  assert.equal(await waitForRelease(sendGet(pool)), second);
  clock.advance(REST_MS - 1);
  assert.equal(await waitForRelease(sendGet(pool)), first);
  clock.advance(1);
  assert.equal(await waitForRelease(sendGet(pool)), second);
});

test("a connection rests by the monotonic clock: setting the wall clock does not shorten it", async (t) => {
  const { pool, clock } = await startPool(t);
  const first = await waitForRelease(sendGet(pool));
  clock.wallMs += REST_MS;
  assert.notEqual(await waitForRelease(sendGet(pool)), first);
});

test("a request whose new connection takes longer than another one's rest goes out on that, and the new one is kept", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const slow = await startTcpUpstream(t, () => {});
  const clock = new ManualClock();
  const opened: Socket[] = [];
  const pool = new UpstreamPool(
    {
      // The test says when a connection is ready.
      readyEvent: "secureConnect",
      isProxied: false,
      open() {
        const { port } = opened.length === 0 ? new URL(upstream.origin) : slow;
        opened.push(connect(Number(port), "127.0.0.1"));
        return opened.at(-1) as Socket;
      },
    },
    clock,
  );
  t.after(() => pool.destroy());
  const first = sendGet(pool);
  opened[0]?.emit("secureConnect");
  assert.equal(await waitForRelease(first), opened[0]);
  const second = sendGet(pool);
  assert.equal(second.request.connection.socket, opened[1]);
  clock.advance(REST_MS);
  await waitForRelease(second);
  assert.equal(second.request.connection.socket, opened[0]);
  assert.equal(opened.length, 2);
  // The next one waits for the second connection.
  assert.equal(sendGet(pool).socket, opened[1]);
});

test("an idle connection does not keep its last request in memory", async (t) => {
  const { pool } = await startPool(t);
  let sent: PooledRequest | null = sendGet(pool);
  const socket = await waitForRelease(sent);
  const reference = new WeakRef(sent.request);
  sent = null;
  await setImmediate();
  measureUsedMemory();
  assert.equal(reference.deref(), undefined);
  assert.ok(!socket.destroyed);
});

test("a connection on which more than the response arrives, before the response is read, is not used again", async (t) => {
  const response = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
  const upstream = await startTcpUpstream(t, (socket) => socket.on("data", () => socket.write(response)));
  const { pool } = openPool(t, `http://127.0.0.1:${upstream.port}`);
  const { response: head, socket } = sendGet(pool);
  const first = await head;
  const closed = once(socket, "close");
  (await upstream.first).write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nNO");
  await closed;
  assert.equal(await readAll(first), "{}");
  assert.notEqual(await waitForRelease(sendGet(pool)), socket);
});

for (const [announcement, keepAlive, limitMs] of [
  ["announces no timeout", null, 50_000],
  ["announces 20 s", "timeout=20", 18_000],
  ["announces 2 minutes", "timeout=120", 118_000],
] as const) {
  for (const [clocks, advance] of [
    ["both clocks", ["wallMs", "tickMs"]],
    ["the wall clock alone, as after a laptop slept", ["wallMs"]],
    ["the monotonic clock alone, while the wall clock is set back", ["tickMs"]],
  ] as const) {
    test(`an idle connection to an upstream that ${announcement} is used again within ${limitMs} ms by ${clocks}, and closed after that`, async (t) => {
      const { pool, clock } = await startPool(t, announce(keepAlive));
      const first = await waitForRelease(sendGet(pool));
      clock.tickMs += REST_MS;
      for (const name of advance) clock[name] += limitMs - 1 - REST_MS;
      assert.equal(await waitForRelease(sendGet(pool)), first);
      clock.tickMs += REST_MS;
      for (const name of advance) clock[name] += limitMs;
      if (advance.length === 1 && advance[0] === "tickMs") clock.wallMs -= 3_600_000;
      assert.notEqual(await waitForRelease(sendGet(pool)), first);
      assert.ok(first.destroyed);
    });
  }
}

for (const [announcement, keepAlive] of [
  ["a timeout of one second", "timeout=1"],
  ["that no more requests are allowed", "timeout=60, max=0"],
] as const) {
  test(`a connection is not used again when the upstream announces ${announcement}`, async (t) => {
    const { pool } = await startPool(t, announce(keepAlive));
    const first = await waitForRelease(sendGet(pool));
    assert.ok(first.destroyed);
    assert.notEqual(await waitForRelease(sendGet(pool)), first);
  });
}

test("a connection whose response says connection: close is not used again", async (t) => {
  const { pool } = await startPool(t, (_seen, res) => {
    res.setHeader("connection", "close");
    sendJson(res, {});
  });
  const first = await waitForRelease(sendGet(pool));
  assert.notEqual(await waitForRelease(sendGet(pool)), first);
});

for (const [action, end] of [
  ["closed", (socket: Socket) => socket.end()],
  ["reset", (socket: Socket) => socket.resetAndDestroy()],
] as const) {
  test(`an idle connection that the upstream has ${action} is not used again, and causes no error`, async (t) => {
    const { upstream, pool } = await startPool(t);
    const first = await waitForRelease(sendGet(pool));
    const closed = new Promise((resolve) => first.once("close", resolve));
    for (const socket of upstream.sockets) end(socket);
    await closed;
    assert.notEqual(await waitForRelease(sendGet(pool)), first);
  });
}

test("a connection that is destroyed in the turn in which it was released is not used again", async (t) => {
  const { pool } = await startPool(t);
  const first = await waitForRelease(sendGet(pool));
  first.destroy();
  assert.notEqual(await waitForRelease(sendGet(pool)), first);
});

test("a request that is destroyed closes its connection, and reports nothing", async (t) => {
  const { upstream, pool } = await startPool(t, () => {});
  const { request, socket, failed } = sendGet(pool);
  await once(upstream.server, "request");
  request.destroy();
  assert.ok(socket.destroyed);
  upstream.respondWith(announce(null));
  assert.notEqual(await waitForRelease(sendGet(pool)), socket);
  assert.equal(await Promise.race([failed, Promise.resolve("nothing")]), "nothing");
});

test("a request that is over leaves its connection alone when it is destroyed", async (t) => {
  const { pool, clock } = await startPool(t);
  const over = sendGet(pool);
  const first = await waitForRelease(over);
  clock.advance(REST_MS);
  const next = sendGet(pool);
  over.request.destroy();
  assert.equal(await waitForRelease(next), first);
});

test("a request whose connection cannot be opened fails, and the next request opens its own", async (t) => {
  const { upstream, pool } = await startPool(t);
  upstream.server.close();
  await once(upstream.server, "close");
  for (let i = 0; i < 2; i += 1)
    await assert.rejects(waitForRelease(sendGet(pool)), { code: "ECONNREFUSED" });
  upstream.server.listen(Number(new URL(upstream.origin).port), "127.0.0.1");
  await waitForRelease(sendGet(pool));
});

test("a connection can be used again after a response that was paused after each chunk", async (t) => {
  const bytes = 4 * 1024 * 1024;
  const { pool, clock } = await startPool(t, (_seen, res) => {
    res.setHeader("content-length", bytes);
    res.end(Buffer.alloc(bytes));
  });
  const sockets = new Set<Socket>();
  for (let i = 0; i < 3; i += 1) {
    clock.advance(REST_MS);
    const { request, socket, response } = sendGet(pool);
    const released = new Promise<void>((resolve) => request.once("close", resolve));
    const incoming = await response;
    let length = 0;
    while (length < bytes) {
      await setImmediate();
      length += incoming.read()?.length ?? 0;
    }
    await released;
    sockets.add(socket);
  }
  assert.equal(sockets.size, 1);
});

test("at most 256 idle connections are kept", async (t) => {
  const { pool } = await startPool(t);
  const sockets = await Promise.all(Array.from({ length: 260 }, () => waitForRelease(sendGet(pool))));
  assert.equal(new Set(sockets).size, 260);
  assert.equal(sockets.filter(({ destroyed }) => !destroyed).length, 256);
});

test("idle connections that are too old are closed without a request", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { pool, clock } = await startPool(t);
  const first = await waitForRelease(sendGet(pool));
  clock.advance(49_999);
  t.mock.timers.tick(5_000);
  assert.ok(!first.destroyed);
  clock.advance(1);
  t.mock.timers.tick(5_000);
  assert.ok(first.destroyed);
});

test("a retired pool closes idle connections at once, and one in use after its response", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { pool } = openPool(t, upstream.origin);
  const inUse = sendGet(pool);
  const response = await held;
  upstream.respondWith(announce(null));
  const idle = await waitForRelease(sendGet(pool));
  assert.ok(!idle.destroyed);
  pool.retire();
  assert.ok(idle.destroyed);
  const { socket } = inUse;
  assert.ok(!socket.destroyed);
  const released = waitForRelease(inUse);
  response.end("whole");
  await released;
  assert.ok(socket.destroyed);
});

test("destroying a pool closes every connection, whether idle, in use or being opened", async (t) => {
  const { upstream, pool } = await startPool(t);
  const [idle] = await Promise.all([waitForRelease(sendGet(pool)), waitForRelease(sendGet(pool))]);
  upstream.respondWith(() => {});
  const inUse = sendGet(pool);
  await once(upstream.server, "request");
  const { pool: full } = openPool(t, `http://127.0.0.1:${await startFullListener(t)}`);
  const waiting = sendGet(full);
  const broken = [inUse, waiting].map(({ failed }) => assert.rejects(failed, /closed the connection/));
  pool.destroy();
  full.destroy();
  await Promise.all(broken);
  assert.ok(idle.destroyed);
});

test("destroying a pool ends a request that has sent nothing on its idle connection, which then gets no other", async (t) => {
  const { upstream, pool, clock } = await startPool(t);
  const connections = countConnections(upstream.server);
  await waitForRelease(sendGet(pool));
  clock.advance(REST_MS);
  const { request, failed } = sendGet(pool);
  pool.destroy();
  await assert.rejects(failed, /closed the connection/);
  assert.ok(request.connection.socket.destroyed);
  // The server accepts this one after any that was opened before it.
  await waitForRelease(sendGet(openPool(t, upstream.origin).pool));
  assert.equal(connections(), 2);
});

test("a pool opens at most one connection ahead until a request has come, and the first request takes it", async (t) => {
  const { upstream, pool, clock } = await startPool(t);
  const connections = countConnections(upstream.server);
  for (let i = 0; i < 3; i += 1) pool.preconnect();
  const request = sendGet(pool);
  pool.preconnect();
  await waitForRelease(request);
  assert.equal(connections(), 2);
  clock.advance(60_000);
  pool.preconnect();
  await waitForRelease(sendGet(pool));
  assert.equal(connections(), 3);
});

test("a connection opened ahead is closed after 8 seconds, and no other is opened until a request comes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { upstream, pool, clock } = await startPool(t);
  const connections = countConnections(upstream.server);
  const connected = once(upstream.server, "connection") as Promise<[Socket]>;
  pool.preconnect();
  const [opened] = await connected;
  const closed = once(opened, "close");
  clock.advance(8_000);
  t.mock.timers.tick(5_000);
  await closed;
  for (let i = 0; i < 3; i += 1) pool.preconnect();
  // The server accepts this one after any that was opened before it.
  await waitForRelease(sendGet(openPool(t, upstream.origin).pool));
  assert.equal(connections(), 2);
});

test("a failure to open a connection ahead is not reported, and the next request opens its own", async (t) => {
  const { upstream, pool } = await startPool(t);
  upstream.server.close();
  await once(upstream.server, "close");
  pool.preconnect();
  // The first attempt has failed before this second one fails.
  await assert.rejects(waitForRelease(sendGet(openPool(t, upstream.origin).pool)), { code: "ECONNREFUSED" });
  await assert.rejects(waitForRelease(sendGet(pool)), { code: "ECONNREFUSED" });
});
