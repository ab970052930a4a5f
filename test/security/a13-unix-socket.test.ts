// A13, other users and the Unix socket: Node cannot ask the kernel who connects to it, so its directory and its mode let in nobody but
// our own user and root. It is never opened where others could enter or exchange the directory, nor beside other files of ours.
import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { leaveDeadSocket } from "../helpers/process/dead-socket.ts";
import { curlAs, NOBODY, noOtherUser } from "../helpers/process/other-user.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { startSocketDaemon } from "../helpers/remote/socket-daemon.ts";
import { listenOnUnix } from "../helpers/remote/unix-server.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** Asserts that no daemon starts with this socket, and that the message matches. */
async function assertRefused(t: TestContext, socket: string, message: RegExp): Promise<void> {
  await assert.rejects(startDaemon(t, { config: { listen: { socket } } }), message);
}

test("the directory is created for us alone, and so is the socket, under any umask", async (t) => {
  const launcher = ["/bin/sh", "-c", 'umask 0; exec "$@"', "sh"];
  const { socket, directory } = await startSocketDaemon(t, {}, { launcher });
  assert.deepEqual([modeOf(directory), modeOf(socket)], ["700", "600"]);
});

test("a directory that others can enter is refused with the command to type, and stays as it is", async (t) => {
  for (const mode of [0o755, 0o750, 0o711, 0o770, 0o707]) {
    const directory = join(scratchDirectory(t), "open");
    mkdirSync(directory);
    chmodSync(directory, mode);
    const socket = join(directory, "tollkeeper.sock");
    await assertRefused(t, socket, /error: other users can enter [^]*hint: close it with: chmod 700 \//);
    assert.equal(modeOf(directory), mode.toString(8));
    assert.ok(!existsSync(socket));
  }
});

test("a link in the place of the directory is not followed", async (t) => {
  const base = scratchDirectory(t);
  mkdirSync(join(base, "theirs"), { mode: 0o700 });
  symlinkSync(join(base, "theirs"), join(base, "link"));
  await assertRefused(
    t,
    join(base, "link", "tollkeeper.sock"),
    /error: the directory [^]* is a symbolic link or belongs to another user/,
  );
});

test(
  "a directory of another user is refused, and so is one that another user may exchange",
  { skip: noOtherUser },
  async (t) => {
    const base = scratchDirectory(t);
    const planted = join(base, "planted");
    mkdirSync(planted, { mode: 0o700 });
    chownSync(planted, NOBODY, NOBODY);
    await assertRefused(t, join(planted, "tollkeeper.sock"), /is a symbolic link or belongs to another user/);
    mkdirSync(join(planted, "ours"), { mode: 0o700 });
    await assertRefused(t, join(planted, "ours", "tollkeeper.sock"), /another user can replace /);
  },
);

test("a directory below one in which all can write is refused, unless that is sticky, as /tmp is", async (t) => {
  const base = scratchDirectory(t);
  const socket = join(base, "sockets", "tollkeeper.sock");
  chmodSync(base, 0o777);
  await assertRefused(t, socket, /other users can replace [^]*hint: chmod go-w \//);
  chmodSync(base, 0o1777);
  await startDaemon(t, { config: { listen: { socket } } });
});

test("a directory behind a link that all can replace is refused, and so is one behind several; other links are followed", async (t) => {
  const base = scratchDirectory(t);
  for (const name of ["real", "open", "closed"]) mkdirSync(join(base, name), { mode: 0o700 });
  symlinkSync(join(base, "real"), join(base, "open", "link"));
  symlinkSync("../open/link", join(base, "closed", "link"));
  const socket = join(base, "closed", "link", "sockets", "tollkeeper.sock");
  chmodSync(join(base, "open"), 0o777);
  for (const path of [socket, join(base, "open", "link", "sockets", "tollkeeper.sock")])
    await assertRefused(t, path, /other users can replace [^]*hint: chmod go-w \/[^\n]*\/open\n/);
  chmodSync(join(base, "open"), 0o700);
  await startDaemon(t, { config: { listen: { socket } } });
});

test("a directory with other files of ours is refused, for a container would see them: the control socket, the state", async (t) => {
  const home = scratchDirectory(t);
  const env = { XDG_RUNTIME_DIR: join(home, "run"), XDG_STATE_HOME: join(home, "state") };
  mkdirSync(join(home, "run", "tollkeeper"), { recursive: true, mode: 0o700 });
  mkdirSync(join(home, "state", "tollkeeper", "ledger"), { recursive: true, mode: 0o700 });
  for (const name of ["run", "run/tollkeeper", "state", "state/tollkeeper", "state/tollkeeper/ledger"]) {
    const config = { listen: { socket: join(home, name, "tollkeeper.sock") } };
    await assert.rejects(startDaemon(t, { config, env }), /contains other files of tollkeeper/);
  }
});

test("a socket that a dead program left is replaced; another file and a socket in use are not", async (t) => {
  const directory = scratchDirectory(t);
  const socket = join(directory, "tollkeeper.sock");
  leaveDeadSocket(socket);
  const daemon = await startDaemon(t, { config: { listen: { socket } } });
  assert.equal((await daemon.status()).socket, socket);

  const file = join(directory, "precious");
  writeFileSync(file, "text");
  await assertRefused(
    t,
    file,
    /error: cannot open the socket of "listen.socket" [^]*: something else is there/,
  );
  assert.equal(readFileSync(file, "utf8"), "text");

  const { path } = await listenOnUnix(t);
  chmodSync(dirname(path), 0o700);
  await assertRefused(
    t,
    path,
    new RegExp(`the socket ${path} is taken by pid ${process.pid} [^]*kill ${process.pid}\n`),
  );
  assert.ok(lstatSync(path).isSocket());
});

test(
  "another user does not reach the socket, even where its directory is opened later",
  { skip: noOtherUser },
  async (t) => {
    const { daemon, socket, directory } = await startSocketDaemon(t, { access: { peerUid: [NOBODY] } });
    const ask = () => curlAs(NOBODY, "--unix-socket", socket, "http://localhost/v1/models");
    const COULD_NOT_CONNECT = 7;
    assert.equal((await ask()).exitCode, COULD_NOT_CONNECT);
    for (const path of [directory, dirname(directory)]) chmodSync(path, 0o755);
    assert.equal((await ask()).exitCode, COULD_NOT_CONNECT);
    assert.deepEqual(await daemon.ledger(), []);
  },
);
