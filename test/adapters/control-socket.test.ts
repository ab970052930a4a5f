import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import {
  askDaemon,
  followDaemon,
  openControlSocket,
  type ControlHandlers,
} from "../../src/adapters/control-socket.ts";
import { Failure } from "../../src/core/failure.ts";
import { controlHandlers } from "../helpers/daemon/control-handlers.ts";
import { leaveDeadSocket } from "../helpers/process/dead-socket.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

const SUN_PATH_BYTES = process.platform === "linux" ? 108 : 104;

async function open(t: TestContext, path: string, handlers: Partial<ControlHandlers> = {}) {
  const log = new MemoryLog();
  const socket = await openControlSocket(path, controlHandlers(handlers), log);
  t.after(() => socket.close());
  return { socket, log };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

function fail(): never {
  throw new Error("on purpose");
}

/** Makes a server that is not a daemon listen on `path`. */
async function listenOn(t: TestContext, path: string, server: Server): Promise<void> {
  server.listen(path);
  t.after(() => server.close());
  await once(server, "listening");
}

for (const umask of [0o000, 0o022, 0o077]) {
  test(`creates the socket with mode 0600 in a directory with mode 0700 under umask ${umask.toString(8)}`, async (t) => {
    const before = process.umask(umask);
    t.after(() => process.umask(before));
    const path = join(scratchDirectory(t), "run", "control.sock");
    await open(t, path);
    assert.deepEqual([modeOf(path), modeOf(dirname(path))], [0o600, 0o700]);
    assert.equal(process.umask(), umask);
  });
}

test("removes other users' access to an existing directory", async (t) => {
  const directory = join(scratchDirectory(t), "run");
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  await open(t, join(directory, "control.sock"));
  assert.equal(modeOf(directory), 0o700);
});

test("passes each command to its handler and returns the handler's result", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const called: string[] = [];
  await open(t, path, { status: () => ({ pid: 4711 }), reload: () => called.push("reload") });
  assert.deepEqual(await askDaemon(path, "status"), { pid: 4711 });
  assert.equal(await askDaemon(path, "reload"), true);
  assert.deepEqual(called, ["reload"]);
});

test("a command resolves to null without a socket, and for the socket of a dead daemon", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  assert.equal(await askDaemon(path, "status"), null);
  writeFileSync(path, "");
  assert.equal(await askDaemon(path, "status"), null);
});

test("replaces the socket of a dead daemon", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  leaveDeadSocket(path);
  await open(t, path);
  assert.deepEqual(await askDaemon(path, "status"), { pid: 1 });
});

test("refuses to open a socket on which another daemon listens", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  await open(t, path);
  await assert.rejects(openControlSocket(path, controlHandlers(), new MemoryLog()), {
    name: "Failure",
    message: "tollkeeper is already running",
  });
  assert.deepEqual(await askDaemon(path, "status"), { pid: 1 });
});

test("removes the socket when it is closed", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const { socket } = await open(t, path);
  await socket.close();
  assert.equal(existsSync(path), false);
  assert.equal(await askDaemon(path, "status"), null);
});

test("a handler's error is a Failure at the client and logged, and the daemon keeps running", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const { log } = await open(t, path, { reload: fail });
  await assert.rejects(askDaemon(path, "reload"), (error) => {
    assert.ok(error instanceof Failure);
    assert.match(error.message, /does not respond correctly: status 500/);
    assert.match(error.hint ?? "", /log/);
    return true;
  });
  assert.match(log.lines.join("\n"), /error a command on the control socket failed .*"reload"/);
  assert.deepEqual(await askDaemon(path, "status"), { pid: 1 });
});

for (const line of [
  "POST /reload/",
  "POST //reload",
  "POST /x/../reload",
  "POST /%72eload",
  "POST *reload",
  "POST /reload#",
  "POST /RELOAD",
]) {
  test(`${line} is no command`, async (t) => {
    const path = join(scratchDirectory(t), "control.sock");
    let calls = 0;
    await open(t, path, { reload: () => (calls += 1) });
    const send = async (requestLine: string) => {
      const socket = connect(path);
      socket.end(`${requestLine} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      return text(socket);
    };
    assert.match(await send(line), /^HTTP\/1\.1 40[04] /);
    assert.equal(calls, 0);
    assert.match(await send("POST /reload"), /^HTTP\/1\.1 200 /);
    assert.equal(calls, 1);
  });
}

test("an unknown command is a Failure at the client", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  await open(t, path);
  for (const command of ["shutdown", "__proto__", "toString"]) {
    await assert.rejects(askDaemon(path, command as "status"), /status 404/);
  }
});

for (const [what, response] of [
  ["disconnects without a response", ""],
  ["disconnects in the middle of a response", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"],
  ["responds with invalid JSON", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{"],
] as const) {
  test(`a daemon that ${what} is a Failure at the client`, async (t) => {
    const path = join(scratchDirectory(t), "control.sock");
    const server = createServer((socket) => socket.once("data", () => socket.end(response)));
    await listenOn(t, path, server);
    await assert.rejects(askDaemon(path, "status"), { name: "Failure" });
  });
}

const EVIL = "\u001b[2Jevil\r\nFORGED\u2028FORGED\u009b31m";
const AS_ONE_LINE = String.raw`\u001b[2Jevil\u000d\u000aFORGED\u2028FORGED\u009b31m`;

test("each text of an answer is one line without control characters; that of metrics has lines", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  await open(t, path, {
    status: () => ({ version: EVIL, keys: [{ name: EVIL, at: null }], path: "/home/\u200fada" }),
    metrics: () => ({ text: `a 1\n${EVIL}`, hasUsage: true }),
  });
  assert.deepEqual(await askDaemon(path, "status"), {
    version: AS_ONE_LINE,
    keys: [{ name: AS_ONE_LINE, at: null }],
    path: "/home/\u200fada",
  });
  const { text: metrics } = (await askDaemon(path, "metrics")) as { text: string };
  assert.equal(metrics, `a 1\n${AS_ONE_LINE.replace(String.raw`\u000a`, "\n")}`);
});

test("a refusal by a daemon has a message and a hint of one line, or none", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  await open(t, path, {
    status() {
      throw new Failure(`no ${EVIL}`, `type ${EVIL}`);
    },
  });
  await assert.rejects(askDaemon(path, "status"), {
    name: "Failure",
    message: `no ${AS_ONE_LINE}`,
    hint: `type ${AS_ONE_LINE}`,
  });
  for (const body of ["{}", "[]", "null", '{"message":{"a":1}}', '"no"']) {
    const other = join(scratchDirectory(t), "control.sock");
    const head = `HTTP/1.1 409 Conflict\r\ncontent-length: ${body.length}\r\n\r\n`;
    await listenOn(
      t,
      other,
      createServer((socket) => socket.once("data", () => socket.end(head + body))),
    );
    await assert.rejects(
      askDaemon(other, "status"),
      /does not respond correctly: its refusal has no message/,
    );
  }
});

test("refuses a path that is too long for a socket, at both ends", async (t) => {
  const directory = scratchDirectory(t);
  const path = (bytes: number) => join(directory, "x".repeat(bytes - directory.length - 1));
  const tooLong = path(SUN_PATH_BYTES);
  const expected = {
    name: "Failure",
    message: new RegExp(`${SUN_PATH_BYTES} bytes, .*${SUN_PATH_BYTES - 1}`),
  };
  await assert.rejects(openControlSocket(tooLong, controlHandlers(), new MemoryLog()), expected);
  await assert.rejects(askDaemon(tooLong, "status"), expected);
  await open(t, path(SUN_PATH_BYTES - 1));
  assert.deepEqual(await askDaemon(path(SUN_PATH_BYTES - 1), "status"), { pid: 1 });
});

test("throws a Failure with a hint when the directory cannot be created", async (t) => {
  const file = join(scratchDirectory(t), "a file");
  writeFileSync(file, "");
  await assert.rejects(openControlSocket(join(file, "control.sock"), controlHandlers(), new MemoryLog()), {
    name: "Failure",
    message: /cannot open the control socket .*: a file is in its place$/,
    hint: `inspect it with: ls -ld ${dirname(file)} '${file}'`,
  });
});

test("`tail` yields every record from now on, and ends with the daemon", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const subscribed = withResolvers<(record: object) => void>();
  const { socket } = await open(t, path, {
    tail(send) {
      subscribed.resolve(send);
      return () => {};
    },
  });
  const records = await followDaemon(path);
  assert.ok(records !== null);
  const send = await subscribed.promise;
  const seen: unknown[] = [];
  send({ n: 1 });
  send({ n: 2 });
  for await (const record of records) {
    seen.push(record);
    if (seen.length === 2) void socket.close();
  }
  assert.deepEqual(seen, [{ n: 1 }, { n: 2 }]);
});

test("unsubscribes a client of `tail` that disconnects", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const unsubscribed = withResolvers<void>();
  await open(t, path, {
    tail(send) {
      send({ n: 1 });
      return () => unsubscribed.resolve();
    },
  });
  for await (const record of (await followDaemon(path)) ?? []) {
    assert.deepEqual(record, { n: 1 });
    break;
  }
  await unsubscribed.promise;
});

test("disconnects a client of `tail` that does not read once 256 KiB are queued for it", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const unsubscribed = withResolvers<number>();
  await open(t, path, {
    tail(send) {
      let sent = 0;
      const timer = setInterval(() => {
        for (let i = 0; i < 64; i += 1) send({ text: "x".repeat(1024) });
        sent += 64 * 1024;
      });
      return () => {
        clearInterval(timer);
        unsubscribed.resolve(sent);
      };
    },
  });
  const client = connect(path);
  t.after(() => client.destroy());
  client.pause().on("error", () => {});
  client.write("POST /tail HTTP/1.1\r\nHost: x\r\n\r\n");
  const sent = await unsubscribed.promise;
  // What the system's buffers hold comes on top.
  assert.ok(sent >= 256 * 1024 && sent <= 2 * 1024 * 1024, String(sent));
});

test("refuses a seventeenth client of `tail`, and takes one again when another has left", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const unsubscribed = withResolvers<void>();
  let subscriptions = 0;
  await open(t, path, {
    tail(send) {
      subscriptions += 1;
      send({ n: 1 });
      return () => unsubscribed.resolve();
    },
  });
  const followers: AsyncIterator<unknown>[] = [];
  for (let i = 0; i < 16; i += 1) {
    const follower = (await followDaemon(path))?.[Symbol.asyncIterator]();
    assert.ok(follower);
    await follower.next();
    followers.push(follower);
  }
  await assert.rejects(followDaemon(path), (error) => {
    return (
      error instanceof Failure &&
      /16 commands are already following/.test(error.message) &&
      error.hint !== undefined
    );
  });
  assert.equal(subscriptions, 16);
  await followers[0]?.return?.();
  await unsubscribed.promise;
  const another = await followDaemon(path);
  assert.deepEqual((await another?.[Symbol.asyncIterator]().next())?.value, { n: 1 });
});

test("following records resolves to null when no daemon listens", async (t) => {
  assert.equal(await followDaemon(join(scratchDirectory(t), "control.sock")), null);
});

/** Opens a socket, follows the records, and removes the socket as `remove` does. Resolves when it is there again. */
async function reopenAfter(t: TestContext, remove: (path: string) => void) {
  const path = join(scratchDirectory(t), "run", "control.sock");
  let send: (record: object) => void = fail;
  const { socket } = await open(t, path, {
    status: () => ({ pid: 1 }),
    tail(listener) {
      send = listener;
      return () => {};
    },
  });
  const records = await followDaemon(path);
  assert.ok(records !== null);
  const next = records[Symbol.asyncIterator]().next();
  remove(path);
  assert.equal(await askDaemon(path, "status"), null);
  const status = await waitUntil("the socket", () => askDaemon(path, "status"));
  return { path, socket, status, next, send: (record: object) => send(record) };
}

for (const [what, remove] of Object.entries({
  "the socket": (path: string) => rmSync(path),
  "its directory": (path: string) => rmSync(dirname(path), { recursive: true }),
})) {
  test(`is there again after somebody has removed ${what}, private as before, and its connections stay`, async (t) => {
    const { path, status, next, send } = await reopenAfter(t, remove);
    assert.deepEqual(status, { pid: 1 });
    assert.deepEqual([modeOf(path), modeOf(dirname(path))], [0o600, 0o700]);
    send({ id: "a" });
    assert.deepEqual((await next).value, { id: "a" });
  });
}

test("closes and removes a socket that was made again", async (t) => {
  const { path, socket } = await reopenAfter(t, (removed) => rmSync(removed));
  await socket.close();
  assert.equal(existsSync(path), false);
});

test("leaves the socket of another daemon at its path alone", async (t) => {
  const path = join(scratchDirectory(t), "run", "control.sock");
  await open(t, path, { status: () => ({ pid: 1 }) });
  rmSync(path);
  const probes = new EventEmitter();
  const other = createServer((client) => {
    client.destroy();
    probes.emit("connected");
  });
  await listenOn(t, path, other);
  const { ino } = statSync(path);
  // Two looks: by the second one, whatever follows the first has been done.
  for (let i = 0; i < 2; i += 1) await once(probes, "connected");
  assert.equal(statSync(path).ino, ino);
});

test("leaves a file that somebody has put at its path alone", async (t) => {
  const path = join(scratchDirectory(t), "run", "control.sock");
  const { log } = await open(t, path);
  rmSync(path);
  writeFileSync(path, "a note");
  await waitUntil("a look at the file", () =>
    log.lines.some((line) => line.includes("replaced by another file")),
  );
  assert.equal(readFileSync(path, "utf8"), "a note");
});
