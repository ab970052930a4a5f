// systemd restarts the service when it hangs or crashes, and only then.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { HANG_MODULE, HANG_PATH } from "./hang-module.ts";
import { CONFIG, service } from "./service.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";

beforeEach(() => service.removeAll());
after(() => service.removeAll());

/** Returns the time of the last watchdog notification, in microseconds. */
async function watchdogTime(): Promise<number> {
  return Number(await service.property("WatchdogTimestampMonotonic"));
}

/** Installs the service with additional settings, such as a short watchdog period, and returns its pid. */
async function installWith(...settings: string[]): Promise<number> {
  await service.mustRun("service", "install");
  await service.override(...settings);
  await service.systemctl("restart", "tollkeeper.service");
  return service.pid();
}

test("the watchdog kills a daemon whose event loop hangs, and the next process responds", async () => {
  service.container.write(HANG_PATH, HANG_MODULE);
  const pid = await installWith(
    "WatchdogSec=2",
    "RestartSec=0",
    `Environment=NODE_OPTIONS=--import=${HANG_PATH}`,
  );
  await service.signal(pid, "USR2");
  await service.nextPid(pid);
  assert.equal(await service.requestStatus(), 200);
  const messages = (await service.journal()).map(({ MESSAGE }) => MESSAGE);
  assert.ok(messages.some((message) => /tollkeeper\.service: Watchdog timeout/.test(message ?? "")));
});

test("a healthy daemon survives several watchdog periods", async () => {
  const pid = await installWith("WatchdogSec=1");
  const start = await watchdogTime();
  const FOUR_PERIODS_US = 4_000_000;
  await waitUntil(
    "four periods of the watchdog",
    async () => (await watchdogTime()) - start > FOUR_PERIODS_US || null,
  );
  assert.deepEqual([await service.pid(), await service.property("NRestarts")], [pid, "0"]);
});

for (const signal of ["KILL", "ABRT"]) {
  test(`after SIG${signal} another process takes over without refusing a connection`, async () => {
    const pid = await installWith("RestartSec=0");
    await service.signal(pid, signal);
    assert.equal(await service.requestStatus(), 200);
    assert.notEqual(await service.pid(), pid);
  });
}

test("a stopped service is not restarted, and its port stays closed until it is started", async () => {
  await installWith("RestartSec=0");
  await service.mustRun("service", "stop");
  assert.deepEqual(
    [
      await service.property("ActiveState"),
      await service.property("SubState"),
      await service.property("Result"),
    ],
    ["inactive", "dead", "success"],
  );
  assert.equal(await service.requestStatus(), "ECONNREFUSED");
  await service.mustRun("service", "start");
  assert.equal(await service.requestStatus(), 200);
});

test("systemd gives up on a service that cannot start, and status and start say why", async () => {
  await installWith("RestartSec=0");
  service.ownFile(CONFIG, `{ "listen": { "port": "eight" } }`);
  const { code } = await service.container.user("systemctl", "--user", "restart", "tollkeeper.service");
  assert.equal(code, 1);
  await waitUntil(
    "the end of the attempts",
    async () => (await service.property("ActiveState")) === "failed" || null,
  );
  const status = await service.tollkeeper("service", "status");
  assert.equal(status.code, 1);
  assert.match(status.stdout, /not running: failed/);
  const started = await service.tollkeeper("service", "start");
  assert.equal(started.code, 1);
  assert.match(started.stderr, /port/);
  service.ownFile(CONFIG, "{}");
  await service.mustRun("service", "start");
  assert.equal(await service.requestStatus(), 200);
});

test("restart reports a missing Node and how to fix it", async () => {
  await installWith("RestartSec=0");
  // A long RestartSec, so that restart sees the service while it waits for its next attempt.
  await service.override("RestartSec=60", "ExecStart=", "ExecStart=/opt/vanished/bin/node serve");
  const { code, stderr } = await service.tollkeeper("service", "restart");
  assert.equal(code, 1);
  assert.match(stderr, /test\.conf: Command \S+ is not executable/);
  assert.match(stderr, /hint: disable it with: mv .*\n {6}then: tollkeeper service start\n/);
});
