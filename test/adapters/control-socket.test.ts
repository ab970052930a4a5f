import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { askDaemon, openControlSocket, type ControlHandlers } from "../../src/adapters/control-socket.ts";
import { Failure } from "../../src/core/failure.ts";
import { scratchDirectory } from "../helpers/keyring.ts";
import { MemoryLog } from "../helpers/memory.ts";

const HANDLERS: ControlHandlers = {
  status: () => ({ pid: 1 }),
  reload: () => true,
  "keys-changed": () => true,
};

const SUN_PATH_BYTES = process.platform === "linux" ? 108 : 104;

async function open(t: TestContext, path: string, handlers: Partial<ControlHandlers> = {}) {
  const log = new MemoryLog();
  const socket = await openControlSocket(path, { ...HANDLERS, ...handlers }, log);
  t.after(() => socket.close());
  return { socket, log };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

function fail(): never {
  throw new Error("out of luck");
}

/** Something on `path` that is not our daemon. */
async function listenOn(t: TestContext, path: string, server: Server): Promise<void> {
  server.listen(path);
  t.after(() => server.close());
  await once(server, "listening");
}

for (const umask of [0o000, 0o022, 0o077]) {
  test(`with umask ${umask.toString(8)} the socket is 0600 in a directory that is 0700`, async (t) => {
    const before = process.umask(umask);
    t.after(() => process.umask(before));
    const path = join(scratchDirectory(t), "run", "control.sock");
    await open(t, path);
    assert.deepEqual([modeOf(path), modeOf(dirname(path))], [0o600, 0o700]);
    assert.equal(process.umask(), umask);
  });
}

test("a directory that was open to others is closed to them", async (t) => {
  const directory = join(scratchDirectory(t), "run");
  mkdirSync(directory);
  chmodSync(directory, 0o777);
  await open(t, join(directory, "control.sock"));
  assert.equal(modeOf(directory), 0o700);
});

test("each command reaches its handler, and what that returns comes back", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const called: string[] = [];
  await open(t, path, { status: () => ({ pid: 4711 }), reload: () => called.push("reload") });
  assert.deepEqual(await askDaemon(path, "status"), { pid: 4711 });
  assert.equal(await askDaemon(path, "reload"), 1);
  assert.deepEqual(called, ["reload"]);
});

test("nobody there is null: no socket, or one whose daemon is dead", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  assert.equal(await askDaemon(path, "status"), null);
  writeFileSync(path, "");
  assert.equal(await askDaemon(path, "status"), null);
});

test("a stale socket is replaced", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  writeFileSync(path, "");
  await open(t, path);
  assert.deepEqual(await askDaemon(path, "status"), { pid: 1 });
});

test("a socket on which a daemon answers is left to it", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  await open(t, path);
  await assert.rejects(openControlSocket(path, HANDLERS, new MemoryLog()), {
    name: "Failure",
    message: "tollkeeper is already running",
  });
  assert.deepEqual(await askDaemon(path, "status"), { pid: 1 });
});

test("a closed socket leaves nothing behind", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const { socket } = await open(t, path);
  await socket.close();
  assert.equal(existsSync(path), false);
  assert.equal(await askDaemon(path, "status"), null);
});

test("a handler that throws is a Failure for who asked, a line in the log, and no end of the daemon", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const { log } = await open(t, path, { reload: fail });
  await assert.rejects(askDaemon(path, "reload"), (error) => {
    assert.ok(error instanceof Failure);
    assert.match(error.message, /does not answer as it should: status 500/);
    assert.match(error.hint ?? "", /log/);
    return true;
  });
  assert.match(log.lines.join("\n"), /error a command on the control socket failed .*"reload"/);
  assert.deepEqual(await askDaemon(path, "status"), { pid: 1 });
});

test("a command that does not exist is a Failure for who asked", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  await open(t, path);
  for (const command of ["shutdown", "__proto__", "toString"]) {
    await assert.rejects(askDaemon(path, command as "status"), /status 404/);
  }
});

for (const [what, said] of [
  ["hangs up at once", ""],
  ["breaks off in mid-answer", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"],
  ["answers with something that is no JSON", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{"],
] as const) {
  test(`a daemon that ${what} is a Failure for who asked`, async (t) => {
    const path = join(scratchDirectory(t), "control.sock");
    const server = createServer((socket) => socket.once("data", () => socket.end(said)));
    await listenOn(t, path, server);
    await assert.rejects(askDaemon(path, "status"), { name: "Failure" });
  });
}

test("a path that is too long for a socket is a Failure that says so, at both ends", async (t) => {
  const directory = scratchDirectory(t);
  const path = (bytes: number) => join(directory, "x".repeat(bytes - directory.length - 1));
  const tooLong = path(SUN_PATH_BYTES);
  const expected = {
    name: "Failure",
    message: new RegExp(`${SUN_PATH_BYTES} bytes, .*${SUN_PATH_BYTES - 1}`),
  };
  await assert.rejects(openControlSocket(tooLong, HANDLERS, new MemoryLog()), expected);
  await assert.rejects(askDaemon(tooLong, "status"), expected);
  await open(t, path(SUN_PATH_BYTES - 1));
  assert.deepEqual(await askDaemon(path(SUN_PATH_BYTES - 1), "status"), { pid: 1 });
});

test("a directory that cannot be made is a Failure with a hint", async (t) => {
  const file = join(scratchDirectory(t), "file");
  writeFileSync(file, "");
  await assert.rejects(openControlSocket(join(file, "control.sock"), HANDLERS, new MemoryLog()), {
    name: "Failure",
    message: /cannot open the control socket .*EEXIST/,
    hint: `look at: ls -ld ${file}`,
  });
});
