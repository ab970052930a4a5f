import assert from "node:assert/strict";
import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { answered, ask, openPool } from "../../helpers/client/pool.ts";
import { startFullListener, startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { answerJson, startHeldUpstream, startUpstream, type Script } from "../../helpers/upstream/scripted-upstream.ts";
import { measureUsed } from "../../helpers/process/used-memory.ts";

/** Node's server announces 5 s; most upstreams announce nothing. */
function announce(keepAlive: string | null): Script {
  return (_seen, res) => {
    res.setHeader("connection", "keep-alive");
    if (keepAlive !== null) res.setHeader("keep-alive", keepAlive);
    answerJson(res, {});
  };
}

test("of two idle connections the one that was used last is lent first", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  const [first, second] = await Promise.all([answered(ask(pool)), answered(ask(pool))]);
  assert.notEqual(first, second);
  assert.equal(await answered(ask(pool)), second);
  const both = await Promise.all([answered(ask(pool)), answered(ask(pool))]);
  assert.deepEqual(new Set(both), new Set([first, second]));
});

test("an idle connection keeps nothing of the request that it was lent to", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  let asked: ClientRequest | null = ask(pool);
  const socket = await answered(asked);
  const past = new WeakRef(asked);
  asked = null;
  await setImmediate();
  measureUsed();
  assert.equal(past.deref(), undefined);
  assert.ok(!socket.destroyed);
});

test("a connection on which more comes than a whole answer, before that is read, is not lent again", async (t) => {
  const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
  const upstream = await startTcpUpstream(t, (socket) => socket.on("data", () => socket.write(answer)));
  const { pool } = openPool(t, `http://127.0.0.1:${upstream.port}`);
  const asked = ask(pool);
  const [first] = (await once(asked, "response")) as [IncomingMessage];
  const socket = asked.socket;
  assert.ok(socket);
  const closed = once(socket, "close");
  (await upstream.first).write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nNO");
  await closed;
  assert.equal(await text(first), "{}");
  assert.notEqual(await answered(ask(pool)), socket);
});

for (const [what, keepAlive, limitMs] of [
  ["that announces nothing", null, 50_000],
  ["that announces 20 s", "timeout=20", 18_000],
  ["that announces 2 minutes", "timeout=120", 118_000],
] as const) {
  for (const [which, advance] of [
    ["either clock", ["wallMs", "tickMs"]],
    ["wall time alone, as on a laptop that slept", ["wallMs"]],
    ["the clock that never jumps alone, wall time being set back", ["tickMs"]],
  ] as const) {
    test(`a connection to an upstream ${what} is lent for ${limitMs} ms by ${which}, and then no more`, async (t) => {
      const upstream = await startUpstream(t, announce(keepAlive));
      const { pool, clock } = openPool(t, upstream.origin);
      const first = await answered(ask(pool));
      for (const name of advance) clock[name] += limitMs - 1;
      assert.equal(await answered(ask(pool)), first);
      for (const name of advance) clock[name] += limitMs;
      if (advance.length === 1 && advance[0] === "tickMs") clock.wallMs -= 3_600_000;
      assert.notEqual(await answered(ask(pool)), first);
      assert.ok(first.destroyed);
    });
  }
}

for (const [what, keepAlive] of [
  ["no time at all", "timeout=1"],
  ["that it was the last request", "timeout=60, max=0"],
] as const) {
  test(`a connection is not used again when the upstream announces ${what}`, async (t) => {
    const upstream = await startUpstream(t, announce(keepAlive));
    const { pool } = openPool(t, upstream.origin);
    const first = await answered(ask(pool));
    assert.ok(first.destroyed);
    assert.notEqual(await answered(ask(pool)), first);
  });
}

test("a connection whose answer asked for its end is not used again", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => {
    res.setHeader("connection", "close");
    answerJson(res, {});
  });
  const { pool } = openPool(t, upstream.origin);
  const first = await answered(ask(pool));
  assert.notEqual(await answered(ask(pool)), first);
});

for (const [what, end] of [
  ["ended", (socket: Socket) => socket.end()],
  ["reset", (socket: Socket) => socket.resetAndDestroy()],
] as const) {
  test(`an idle connection that the upstream has ${what} is not lent, and ends nothing else`, async (t) => {
    const upstream = await startUpstream(t, announce(null));
    const { pool } = openPool(t, upstream.origin);
    const first = await answered(ask(pool));
    const closed = new Promise((resolve) => first.once("close", resolve));
    for (const socket of upstream.sockets) end(socket);
    await closed;
    assert.notEqual(await answered(ask(pool)), first);
  });
}

test("a connection that died in the same turn in which it was given back is not lent", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  const first = await answered(ask(pool));
  first.destroy();
  assert.notEqual(await answered(ask(pool)), first);
});

test("a request that is destroyed before it has its connection leaves that to the next one", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  let connections = 0;
  upstream.server.on("connection", () => (connections += 1));
  const { pool } = openPool(t, upstream.origin);
  const gone = ask(pool);
  gone.destroy();
  await assert.rejects(once(gone, "close"), /socket hang up/);
  await answered(ask(pool));
  assert.equal(connections, 1);
});

test("a request that is destroyed with its connection takes that along", async (t) => {
  const upstream = await startUpstream(t, () => {});
  const { pool } = openPool(t, upstream.origin);
  const gone = ask(pool);
  const [socket] = (await once(gone, "socket")) as [Socket];
  gone.destroy();
  await assert.rejects(once(gone, "close"), /socket hang up/);
  assert.ok(socket.destroyed);
  upstream.answer(announce(null));
  assert.notEqual(await answered(ask(pool)), socket);
});

test("a connection that cannot be made is its request's error, and the next request makes its own", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  upstream.server.close();
  await once(upstream.server, "close");
  for (let i = 0; i < 2; i += 1) await assert.rejects(answered(ask(pool)), { code: "ECONNREFUSED" });
  upstream.server.listen(Number(new URL(upstream.origin).port), "127.0.0.1");
  await answered(ask(pool));
});

test("a connection that Node gives back twice is not lent twice", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  const first = await answered(ask(pool));
  const next = ask(pool);
  const [socket] = (await once(next, "socket")) as [Socket];
  assert.equal(socket, first);
  first.emit("free");
  const [third] = await Promise.all([answered(ask(pool)), answered(next)]);
  assert.notEqual(third, first);
});

test("an answer that was paused until its end leaves a connection that can be used", async (t) => {
  const bytes = 4 * 1024 * 1024;
  const upstream = await startUpstream(t, (_seen, res) => {
    res.setHeader("content-length", bytes);
    res.end(Buffer.alloc(bytes));
  });
  const { pool } = openPool(t, upstream.origin);
  const sockets = new Set<Socket>();
  for (let i = 0; i < 3; i += 1) {
    const asked = ask(pool);
    asked.on("response", (answer) => {
      answer.on("data", () => {
        answer.pause();
        void setImmediate().then(() => answer.resume());
      });
    });
    sockets.add(await answered(asked));
  }
  assert.equal(sockets.size, 1);
});

test("no more than 256 idle connections are kept", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  const sockets = await Promise.all(Array.from({ length: 260 }, () => answered(ask(pool))));
  assert.equal(new Set(sockets).size, 260);
  assert.equal(sockets.filter(({ destroyed }) => !destroyed).length, 256);
});

test("connections that are too old are closed, although no request comes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const upstream = await startUpstream(t, announce(null));
  const { pool, clock } = openPool(t, upstream.origin);
  const first = await answered(ask(pool));
  clock.advance(49_999);
  t.mock.timers.tick(5_000);
  assert.ok(!first.destroyed);
  clock.advance(1);
  t.mock.timers.tick(5_000);
  assert.ok(first.destroyed);
});

test("a pool that is retired lets its idle connections go at once, and a lent one after its answer", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { pool } = openPool(t, upstream.origin);
  const lent = ask(pool);
  const answer = await held;
  upstream.answer(announce(null));
  const idle = await answered(ask(pool));
  assert.ok(!idle.destroyed);
  pool.retire();
  assert.ok(idle.destroyed);
  const socket = lent.socket;
  assert.ok(socket !== null && !socket.destroyed);
  const ended = answered(lent);
  answer.end("whole");
  await ended;
  assert.ok(socket.destroyed);
});

test("the end of a pool is that of every connection, idle, lent or being made", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  const [idle] = await Promise.all([answered(ask(pool)), answered(ask(pool))]);
  upstream.answer(() => {});
  const lent = ask(pool);
  await once(upstream.server, "request");
  const { pool: full } = openPool(t, `http://127.0.0.1:${await startFullListener(t)}`);
  const waiting = ask(full);
  await once(waiting, "socket");
  const broken = [lent, waiting].map((asked) => assert.rejects(once(asked, "close"), /socket hang up/));
  pool.destroy();
  full.destroy();
  await Promise.all(broken);
  assert.ok(idle.destroyed);
});

test("a connection opened ahead takes the first request, and there is one at most until that has come", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  let connections = 0;
  upstream.server.on("connection", () => (connections += 1));
  const { pool, clock } = openPool(t, upstream.origin);
  for (let i = 0; i < 3; i += 1) pool.preconnect();
  const asked = ask(pool);
  pool.preconnect();
  await answered(asked);
  assert.equal(connections, 2);
  clock.advance(60_000);
  pool.preconnect();
  await answered(ask(pool));
  assert.equal(connections, 3);
});

test("clients that connect again and again and ask nothing cost one connection, for 8 seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const upstream = await startUpstream(t, announce(null));
  let connections = 0;
  upstream.server.on("connection", () => (connections += 1));
  const { pool, clock } = openPool(t, upstream.origin);
  const connected = once(upstream.server, "connection") as Promise<[Socket]>;
  pool.preconnect();
  const [opened] = await connected;
  const closed = once(opened, "close");
  clock.advance(8_000);
  t.mock.timers.tick(5_000);
  await closed;
  for (let i = 0; i < 3; i += 1) pool.preconnect();
  // Taken after any that was opened before it.
  await answered(ask(openPool(t, upstream.origin).pool));
  assert.equal(connections, 2);
});

test("a connection opened ahead that cannot be made is nobody's error", async (t) => {
  const upstream = await startUpstream(t, announce(null));
  const { pool } = openPool(t, upstream.origin);
  upstream.server.close();
  await once(upstream.server, "close");
  pool.preconnect();
  // Its failure is there before that of a second attempt.
  await assert.rejects(answered(ask(openPool(t, upstream.origin).pool)), { code: "ECONNREFUSED" });
  await assert.rejects(answered(ask(pool)), { code: "ECONNREFUSED" });
});
