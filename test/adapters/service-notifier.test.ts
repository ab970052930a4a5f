import assert from "node:assert/strict";
import { chmodSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openServiceNotifier } from "../../src/adapters/service-notifier.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

const PID = 4711;

/** A fake `systemd-notify` that records its arguments and the size of its environment. */
function fakeSystemdNotify(t: TestContext, exitCode = 0) {
  const directory = scratchDirectory(t);
  const file = join(directory, "calls");
  writeFileSync(file, "");
  const program = join(directory, "systemd-notify");
  writeFileSync(
    program,
    `#!/bin/sh\nfor word; do printf '%s|' "$word"; done >>'${file}'\nenv | grep -c . >>'${file}'\nexit ${exitCode}\n`,
  );
  chmodSync(program, 0o755);
  const calls = () => readFileSync(file, "utf8").split("\n").slice(0, -1);
  const until = (count: number) =>
    new Promise<string[]>((resolve) => {
      const watcher = watch(directory, () => check());
      const check = () => {
        if (calls().length < count) return;
        watcher.close();
        resolve(calls());
      };
      check();
    });
  return { PATH: `${directory}:/usr/bin:/bin`, until };
}

test("does nothing where systemd does not ask for notifications", () => {
  const log = new MemoryLog();
  const notifier = openServiceNotifier({ PATH: "/nowhere" }, PID, log);
  notifier.ready("serves");
  notifier.stopping("stops", 1);
  notifier.close();
  assert.deepEqual(log.lines, []);
});

test("sends ready, status and stopping to systemd in order, with a status in one line", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify" };
  const notifier = openServiceNotifier(env, PID, new MemoryLog());
  notifier.ready("listens");
  notifier.status("two\nlines");
  notifier.stopping("stops", 35_000);
  const calls = await until(3);
  assert.deepEqual(
    calls.map((line) => line.replace(/\|\d+$/, "|")),
    ["READY=1|STATUS=listens|", "STATUS=two lines|", "STOPPING=1|STATUS=stops|EXTEND_TIMEOUT_USEC=35000000|"],
  );
});

test("removes systemd's variables from the environment of other children", (t) => {
  const { PATH } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "1", WATCHDOG_PID: "1" };
  openServiceNotifier(env, PID, new MemoryLog());
  assert.deepEqual(Object.keys(env), ["PATH"]);
});

test("notifies systemd's watchdog repeatedly until it is closed", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "30000", WATCHDOG_PID: String(PID) };
  const notifier = openServiceNotifier(env, PID, new MemoryLog());
  notifier.ready("listens");
  // Keeps this process running, as a daemon's sockets do.
  const running = setInterval(() => {}, 1000);
  const calls = await until(4);
  clearInterval(running);
  notifier.close();
  assert.deepEqual(
    calls.slice(1, 4).map((line) => line.split("|")[0]),
    ["WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"],
  );
});

test("does not notify the watchdog of another process", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const env = { PATH, NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "3000", WATCHDOG_PID: "1" };
  const notifier = openServiceNotifier(env, PID, new MemoryLog());
  notifier.ready("listens");
  await until(1);
  notifier.status("still");
  assert.match((await until(2))[1] ?? "", /^STATUS=still/);
  notifier.close();
});

/** Returns a log and a promise of its first warning. */
function warnings() {
  const { promise, resolve } = withResolvers<string>();
  return {
    log: { debug() {}, info() {}, error() {}, warn: (_facts: object, text: string) => resolve(text) },
    promise,
  };
}

test("logs a warning when systemd-notify is not installed", async () => {
  const { log, promise } = warnings();
  openServiceNotifier({ PATH: "/nowhere", NOTIFY_SOCKET: "/run/notify" }, PID, log).ready("listens");
  assert.match(await promise, /systemd-notify cannot be run/);
});

test("logs a warning when systemd-notify fails", async (t) => {
  const { PATH } = fakeSystemdNotify(t, 3);
  const { log, promise } = warnings();
  openServiceNotifier({ PATH, NOTIFY_SOCKET: "/run/notify" }, PID, log).ready("listens");
  assert.match(await promise, /systemd-notify failed$/);
});

test("logs a warning when the child process cannot be created", async () => {
  const { log, promise } = warnings();
  // `spawn` throws synchronously for this path, as it does when there is no memory.
  openServiceNotifier({ PATH: "\0", NOTIFY_SOCKET: "/run/notify" }, PID, log).ready("listens");
  assert.match(await promise, /systemd-notify cannot be run/);
});

test("truncates a long status and removes its control characters", async (t) => {
  const { PATH, until } = fakeSystemdNotify(t);
  const notifier = openServiceNotifier({ PATH, NOTIFY_SOCKET: "/run/notify" }, PID, new MemoryLog());
  notifier.status(`a\0b\n${"x".repeat(1_000_000)}`);
  assert.match((await until(1))[0] ?? "", /^STATUS=a b x{496}\|/);
});
