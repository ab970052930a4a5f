import assert from "node:assert/strict";
import { chmodSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openServiceNotifier } from "../../src/adapters/service-notifier.ts";
import { scratchDirectory } from "../helpers/keychain/keychain-session.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

const PID = 4711;

/** A stand-in for `systemd-notify` that writes down what it is told, and by which environment. */
function fakeSystemdNotify(t: TestContext, exitCode = 0) {
  const directory = scratchDirectory(t);
  const file = join(directory, "said");
  writeFileSync(file, "");
  const program = join(directory, "systemd-notify");
  writeFileSync(
    program,
    `#!/bin/sh\nfor word; do printf '%s|' "$word"; done >>'${file}'\nenv | grep -c . >>'${file}'\nexit ${exitCode}\n`,
  );
  chmodSync(program, 0o755);
  const said = () => readFileSync(file, "utf8").split("\n").slice(0, -1);
  const until = (count: number) =>
    new Promise<string[]>((resolve) => {
      const watcher = watch(directory, () => check());
      const check = () => {
        if (said().length < count) return;
        watcher.close();
        resolve(said());
      };
      check();
    });
  return { PATH: `${directory}:/usr/bin:/bin`, until };
}

test("nobody is told anything where systemd does not ask for it", () => {
  const log = new MemoryLog();
  const notifier = openServiceNotifier({ PATH: "/nowhere" }, PID, log);
  notifier.ready("serves");
  notifier.stopping("stops", 1);
  notifier.close();
  assert.deepEqual(log.lines, []);
});

test("ready, status and stopping reach systemd in their order, a status in one line", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify" };
  const notifier = openServiceNotifier(env, PID, new MemoryLog());
  notifier.ready("listens");
  notifier.status("two\nlines");
  notifier.stopping("stops", 35_000);
  const said = await until(3);
  assert.deepEqual(
    said.map((line) => line.replace(/\|\d+$/, "|")),
    ["READY=1|STATUS=listens|", "STATUS=two lines|", "STOPPING=1|STATUS=stops|EXTEND_TIMEOUT_USEC=35000000|"],
  );
});

test("no other child of the daemon can speak to systemd", (t) => {
  const { PATH } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "1", WATCHDOG_PID: "1" };
  openServiceNotifier(env, PID, new MemoryLog());
  assert.deepEqual(Object.keys(env), ["PATH"]);
});

test("with a watchdog, systemd is told again and again that the event loop turns, until the end", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "30000", WATCHDOG_PID: String(PID) };
  const notifier = openServiceNotifier(env, PID, new MemoryLog());
  notifier.ready("listens");
  // What the daemon has open keeps it running; here that is this timer.
  const running = setInterval(() => {}, 1000);
  const said = await until(4);
  clearInterval(running);
  notifier.close();
  assert.deepEqual(
    said.slice(1, 4).map((line) => line.split("|")[0]),
    ["WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"],
  );
});

test("a watchdog that is another process's is not fed", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "3000", WATCHDOG_PID: "1" };
  const notifier = openServiceNotifier(env, PID, new MemoryLog());
  notifier.ready("listens");
  await until(1);
  notifier.status("still");
  assert.match((await until(2))[1] ?? "", /^STATUS=still/);
  notifier.close();
});

/** A log, and its first warning. */
function warnings() {
  const { promise, resolve } = withResolvers<string>();
  return {
    log: { debug() {}, info() {}, error() {}, warn: (_facts: object, text: string) => resolve(text) },
    promise,
  };
}

test("a systemd-notify that is not there is logged, and ends nothing", async () => {
  const { log, promise } = warnings();
  openServiceNotifier({ PATH: "/nowhere", NOTIFY_SOCKET: "/run/notify" }, PID, log).ready("listens");
  assert.match(await promise, /systemd-notify does not run/);
});

test("a systemd-notify that fails is logged, and ends nothing", async (t) => {
  const { PATH } = fakeSystemdNotify(t, 3);
  const { log, promise } = warnings();
  openServiceNotifier({ PATH, NOTIFY_SOCKET: "/run/notify" }, PID, log).ready("listens");
  assert.match(await promise, /systemd-notify failed$/);
});

test("a child that cannot be made at all is logged, and ends nothing", async () => {
  const { log, promise } = warnings();
  // Node throws for this one at once, as it does where there is no memory.
  openServiceNotifier({ PATH: "\0", NOTIFY_SOCKET: "/run/notify" }, PID, log).ready("listens");
  assert.match(await promise, /systemd-notify does not run/);
});

test("a status is one line, however long what it tells is", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const notifier = openServiceNotifier({ PATH, NOTIFY_SOCKET: "/run/notify" }, PID, new MemoryLog());
  notifier.status(`a\0b\n${"x".repeat(1_000_000)}`);
  assert.match((await until(1))[0] ?? "", /^STATUS=a b x{496}\|/);
});
