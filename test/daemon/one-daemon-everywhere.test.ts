import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { DaemonStatus } from "../../src/daemon/status.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { launchDaemon } from "../helpers/daemon/daemon.ts";
import { runProgram } from "../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

// Which daemon a command reaches depends on the state directory, not on the session in which it is typed.

type Environment = Record<string, string>;

/** The environment of cron, of `docker exec` and after `su -`: no session. */
function withoutSession({ env }: Pick<Daemon, "env">): Environment {
  const { XDG_RUNTIME_DIR: _session, ...rest } = env as Environment;
  return rest;
}

const elsewhere = ({ env }: Daemon, runtime: string): Environment => ({ ...env, XDG_RUNTIME_DIR: runtime });

const stateOf = ({ home }: Pick<Daemon, "home">) => join(home, "state", "tollkeeper");

function addressFile(daemon: Pick<Daemon, "home">): string {
  const [name] = readdirSync(stateOf(daemon)).filter((entry) => entry.startsWith("daemon-"));
  assert.ok(name !== undefined);
  return join(stateOf(daemon), name);
}

async function pidFrom(env: Environment): Promise<number> {
  const { code, stdout, stderr } = await runProgram(["status", "--json"], { env });
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as DaemonStatus).pid;
}

/** Sessions from which the daemon of a session is reached. */
const SESSIONS: [name: string, env: (daemon: Daemon, t: TestContext) => Environment][] = [
  ["no session", withoutSession],
  ["another session's directory", (daemon, t) => elsewhere(daemon, scratchDirectory(t))],
  [
    "the directory of root's session, which may be closed or missing",
    (daemon) => elsewhere(daemon, "/run/user/0"),
  ],
  ["a directory that does not exist", (daemon) => elsewhere(daemon, "/nonexistent/run")],
];

for (const [name, environmentOf] of SESSIONS) {
  test(`from ${name}, every command reaches the daemon of a login session`, async (t) => {
    const daemon = await startDaemon(t);
    const env = environmentOf(daemon, t);
    const run = (...args: string[]) => runProgram(args, { env });
    assert.equal(await pidFrom(env), daemon.pid);
    assert.doesNotMatch((await run("statusline")).stdout, /tollkeeper is (?!busy)/);
    assert.match((await run("pause", "--all")).stdout, /paused/i);
    assert.match((await run("resume", "--all")).stdout, /\S/);
    for (const words of [
      ["budget"],
      ["tail", "--no-follow"],
      ["run", "--tool", "nightly", "--", "true"],
      ["metrics"],
    ]) {
      const { code, stderr } = await run(...words);
      assert.equal(code, 0, `${words.join(" ")}: ${stderr}`);
    }
    const stopped = await run("service", "stop");
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.equal(await daemon.ended, 0);
  });
}

test("from a login session, every command reaches the daemon that was started without one", async (t) => {
  const daemon = await startDaemon(t);
  await daemon.stop();
  const bare = withoutSession(daemon);
  const again = launchDaemon(daemon.home, { env: { XDG_RUNTIME_DIR: "" } });
  t.after(again.kill);
  await assert.rejects(again.ready, "the helper asks in the session's directory, where this daemon is not");
  const pids = await Promise.all([daemon.env, bare, elsewhere(daemon, "/run/user/0")].map(pidFrom));
  assert.deepEqual(pids, [again.pid, again.pid, again.pid]);
});

test("a second daemon is refused from another session, and is told which one runs", async (t) => {
  const daemon = await startDaemon(t);
  for (const env of [withoutSession(daemon), elsewhere(daemon, scratchDirectory(t))]) {
    const { code, stderr } = await runProgram(["serve", "--config", daemon.configFile], { env });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`already running: pid ${daemon.pid}`));
  }
});

test("the daemon writes down where it is for its owner only, and takes that back when it stops", async (t) => {
  const daemon = await startDaemon(t);
  const file = addressFile(daemon);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await daemon.stop();
  assert.equal(existsSync(file), false);
});

test("after a crash no command finds a daemon, and the next one is found from everywhere", async (t) => {
  const daemon = await startDaemon(t);
  process.kill(daemon.pid, "SIGKILL");
  await daemon.ended;
  for (const env of [daemon.env, withoutSession(daemon)]) {
    const { code, stderr } = await runProgram(["status"], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^error: tollkeeper is not running/);
  }
  const next = launchDaemon(daemon.home);
  t.after(next.kill);
  const { pid } = await next.ready;
  assert.equal(await pidFrom(withoutSession(daemon)), pid);
});

test("a daemon that wrote nothing down, as those of earlier builds, is found in its session's directory", async (t) => {
  const daemon = await startDaemon(t);
  rmSync(addressFile(daemon));
  assert.equal(await pidFrom(daemon.env), daemon.pid);
});

test("a damaged file of that kind counts as none", async (t) => {
  const daemon = await startDaemon(t);
  for (const text of ["", "{", "null", '{"control":7}', '{"control":"/nonexistent","pid":1}']) {
    writeFileSync(addressFile(daemon), text);
    assert.equal(await pidFrom(daemon.env), daemon.pid);
  }
});

/** A program that accepts connections in a daemon's place and counts them. */
async function listenInItsPlace(t: TestContext): Promise<{ path: string; connections: () => number }> {
  const path = join(scratchDirectory(t), "planted.sock");
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  }).listen(path);
  t.after(() => server.close());
  await once(server, "listening");
  return { path, connections: () => count };
}

test("nothing is asked through a file that others could have written", async (t) => {
  const daemon = await startDaemon(t);
  const planted = await listenInItsPlace(t);
  const file = addressFile(daemon);
  writeFileSync(file, JSON.stringify({ control: planted.path, pid: 1 }));
  chmodSync(file, 0o666);
  assert.equal(await pidFrom(daemon.env), daemon.pid);
  assert.equal(planted.connections(), 0);
});

test(
  "nothing is asked on another user's socket",
  { skip: process.getuid?.() !== 0 && "needs root" },
  async (t) => {
    const daemon = await startDaemon(t);
    const planted = await listenInItsPlace(t);
    chownSync(planted.path, 65_534, 65_534);
    writeFileSync(addressFile(daemon), JSON.stringify({ control: planted.path, pid: 1 }), { mode: 0o600 });
    assert.equal(await pidFrom(daemon.env), daemon.pid);
    assert.equal(planted.connections(), 0);
  },
);

test("a daemon that outlives its session is reached after the session's directory is gone", async (t) => {
  const daemon = await startDaemon(t);
  const runtime = daemon.env["XDG_RUNTIME_DIR"] ?? "";
  rmSync(runtime, { recursive: true });
  // What makes the directory, /run/user, is root's.
  writeFileSync(runtime, "");
  await daemon.waitForOutput(/the control socket had been removed and was created in /);
  assert.equal(await pidFrom(withoutSession(daemon)), daemon.pid);
  assert.equal(await pidFrom(daemon.env), daemon.pid);
});

test("where the session's directory is too deep for a socket, the daemon uses the state directory", async (t) => {
  const deep = join(scratchDirectory(t), "x".repeat(100));
  mkdirSync(deep, { mode: 0o700 });
  const daemon = await startDaemon(t);
  await daemon.stop();
  const again = launchDaemon(daemon.home, { env: { XDG_RUNTIME_DIR: deep } });
  t.after(again.kill);
  await assert.rejects(again.ready, /has \d+ bytes/, "the helper asks in the session's directory");
  assert.equal(await pidFrom(withoutSession(daemon)), again.pid);
});

test("no hint says to kill a daemon of the same user with another state directory; it says how to reach and to stop it", async (t) => {
  const daemon = await startDaemon(t);
  const other = scratchDirectory(t);
  const env = { ...withoutSession(daemon), XDG_STATE_HOME: other };
  const config = join(other, "config.jsonc");
  writeFileSync(config, JSON.stringify({ listen: { port: daemon.port } }), { mode: 0o600 });
  for (const command of ["status", "serve", "pause all", "budget", "tail", "top", "dashboard"]) {
    const { stderr } = await runProgram([...command.split(" "), "--config", config], { env });
    assert.match(stderr, new RegExp(`taken by another tollkeeper, pid ${daemon.pid} `));
    assert.doesNotMatch(stderr, /\bkill\b/);
    const [, reach] =
      /hint: your commands reach it in its environment, for example: env (.*) (?:node \S+|tollkeeper)(?: --config \S+)? status\n/.exec(
        stderr,
      ) ?? assert.fail(stderr);
    assert.equal(reach, `XDG_STATE_HOME=${daemon.home}/state XDG_RUNTIME_DIR=${daemon.home}/run`);
    assert.match(stderr, /^ {6}to stop it, type: env .* service stop$/m);
  }
});
