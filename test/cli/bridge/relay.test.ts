import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { relay } from "../../../src/cli/bridge/relay.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { listenOnUnix } from "../../helpers/remote/unix-server.ts";

const QUESTION = "POST /v1/messages HTTP/1.1\r\n\r\n";

const LIMIT = { timeout: 300_000 };

/** Opens one connection through a relay. `inner` is the relay's end towards the client. */
async function open(t: TestContext): Promise<{ client: Socket; inner: Socket; daemon: Socket }> {
  const unix = await listenOnUnix(t);
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const arrived = once(listener, "connection") as Promise<[Socket]>;
  const client = connect({
    port: (listener.address() as AddressInfo).port,
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  const [inner] = await arrived;
  const accepted = unix.accepted();
  relay(inner, unix.path, (error) => assert.fail(error));
  t.after(() => {
    listener.close();
    for (const socket of [client, inner]) socket.destroy();
  });
  return { client, inner, daemon: await accepted };
}

/** Resolves with everything up to the other side's end. Leaves the own side open, unlike node:stream/consumers. */
async function collect(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on("data", (bytes: Buffer) => pieces.push(bytes));
  socket.resume();
  await once(socket, "end");
  return Buffer.concat(pieces);
}

async function nextBytes(socket: Socket): Promise<string> {
  const arrived = once(socket, "data") as Promise<[Buffer]>;
  socket.resume();
  const [bytes] = await arrived;
  socket.pause();
  return bytes.toString("latin1");
}

/** Resolves with the error code with which a connection ends; null for a clean end. */
function endOf(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    socket.once("end", () => resolve(null));
    socket.resume();
  });
}

test("bytes pass unchanged in both directions", LIMIT, async (t) => {
  const { client, daemon } = await open(t);
  const [up, down] = [randomBytes(3_000_000), randomBytes(5_000_000)];
  client.end(up);
  daemon.end(down);
  const [sent, received] = await Promise.all([collect(daemon), collect(client)]);
  assert.ok(sent.equals(up) && received.equals(down));
});

test("the client's end is passed on, and the answer to it still arrives", LIMIT, async (t) => {
  const { client, daemon } = await open(t);
  client.end("question");
  assert.equal((await collect(daemon)).toString(), "question");
  daemon.end("answer");
  assert.equal((await collect(client)).toString(), "answer");
});

test(
  "the daemon's end is passed on as an end, and what the client sends meanwhile still arrives",
  LIMIT,
  async (t) => {
    const { client, daemon } = await open(t);
    client.write("question");
    assert.equal(await nextBytes(daemon), "question");
    daemon.end("answer");
    assert.equal((await collect(client)).toString(), "answer");
    client.end("more");
    assert.equal((await collect(daemon)).toString(), "more");
  },
);

test("a response that the daemon breaks off ends without what would make it complete", LIMIT, async (t) => {
  const { client, daemon } = await open(t);
  client.write("question");
  await nextBytes(daemon);
  daemon.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", () => daemon.destroy());
  assert.match((await collect(client)).toString(), /hello\r\n$/);
});

test("a daemon that closes without any answer resets the client's connection", LIMIT, async (t) => {
  const { client, daemon } = await open(t);
  client.write(QUESTION);
  await nextBytes(daemon);
  daemon.destroy();
  assert.equal(await endOf(client), "ECONNRESET");
});

test("a later request on the connection without any answer resets it, too", LIMIT, async (t) => {
  const { client, daemon } = await open(t);
  client.write(QUESTION);
  await nextBytes(daemon);
  daemon.write("answer");
  assert.equal(await nextBytes(client), "answer");
  client.write(QUESTION);
  await nextBytes(daemon);
  daemon.destroy();
  assert.equal(await endOf(client), "ECONNRESET");
});

test("a daemon that dies with unread bytes resets the client's connection", LIMIT, async (t) => {
  const { client, daemon } = await open(t);
  client.write("question");
  daemon.write("the beginning of an answer");
  assert.match(await nextBytes(client), /^the beginning/);
  // The kernel resets a Unix connection that is closed with unread bytes.
  daemon.destroy();
  assert.equal(await endOf(client), "ECONNRESET");
});

test("a client that resets its connection ends that to the daemon", LIMIT, async (t) => {
  const { client, daemon } = await open(t);
  client.write("question");
  await nextBytes(daemon);
  const closed = once(daemon, "close");
  daemon.on("end", () => daemon.destroy());
  client.resetAndDestroy();
  await closed;
});

/** How much fits into the sockets' own buffers, with much to spare. */
const FLOOD_BYTES = 64 * 1024 * 1024;

/** Writes until the other side stops reading. Returns how much was accepted. */
async function flood(socket: Socket): Promise<number> {
  const piece = Buffer.alloc(256 * 1024);
  let written = 0;
  while (written < FLOOD_BYTES) {
    const isTaken = socket.write(piece);
    written += piece.length;
    if (isTaken) continue;
    const drained = once(socket, "drain").then(() => true);
    // Nothing else moves: once a turn of the loop after everything has settled brings no drain, none will come.
    if (!(await Promise.race([drained, settled(socket)]))) return written;
  }
  return written;
}

/** Resolves to false when what the socket holds has stayed the same for many turns of the loop. */
async function settled(socket: Socket): Promise<boolean> {
  let same = 0;
  for (let before = socket.writableLength; same < 200; before = socket.writableLength) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    same = socket.writableLength === before ? same + 1 : 0;
  }
  return false;
}

test(
  "a client that does not read stops the daemon, and a daemon that does not read stops the client",
  LIMIT,
  async (t) => {
    const down = await open(t);
    down.client.pause();
    assert.ok((await flood(down.daemon)) < FLOOD_BYTES);
    assert.ok(down.inner.writableLength < 1024 * 1024, `${down.inner.writableLength} bytes wait`);
    const up = await open(t);
    assert.ok((await flood(up.client)) < FLOOD_BYTES);
    await waitUntil("the relay to stop reading", () => up.inner.isPaused() || null);
  },
);
