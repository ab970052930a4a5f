// It comes back by itself when it hangs or dies, and only then.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { HANG_MODULE, HANG_PATH } from "./hang.ts";
import { CONFIG, service } from "./service.ts";
import { until } from "../helpers/async/until.ts";

beforeEach(() => service.removeAll());
after(() => service.removeAll());

/** When the watchdog was last told that the event loop turns, in microseconds. */
async function told(): Promise<number> {
  return Number(await service.property("WatchdogTimestampMonotonic"));
}

/** Installed, with settings on top of the unit's own: tests do not wait a minute for a watchdog. */
async function installWith(...settings: string[]): Promise<number> {
  await service.done("service", "install");
  await service.override(...settings);
  await service.systemctl("restart", "tollkeeper.service");
  return service.pid();
}

test("an event loop that hangs: the watchdog ends it, and the next process answers", async () => {
  service.container.write(HANG_PATH, HANG_MODULE);
  const pid = await installWith(
    "WatchdogSec=2",
    "RestartSec=0",
    `Environment=NODE_OPTIONS=--import=${HANG_PATH}`,
  );
  await service.signal(pid, "USR2");
  await service.nextPid(pid);
  assert.equal(await service.answer(), 200);
  const said = (await service.journal()).map(({ MESSAGE }) => MESSAGE);
  assert.ok(said.some((message) => /tollkeeper\.service: Watchdog timeout/.test(message ?? "")));
});

test("an event loop that turns: many watchdog periods pass, and it is still the same process", async () => {
  const pid = await installWith("WatchdogSec=1");
  const start = await told();
  const FOUR_PERIODS_US = 4_000_000;
  await until("four periods of the watchdog", async () => (await told()) - start > FOUR_PERIODS_US || null);
  assert.deepEqual([await service.pid(), await service.property("NRestarts")], [pid, "0"]);
});

for (const signal of ["KILL", "ABRT"]) {
  test(`SIG${signal}: another process takes over, and nobody is refused meanwhile`, async () => {
    const pid = await installWith("RestartSec=0");
    await service.signal(pid, signal);
    assert.equal(await service.answer(), 200);
    assert.notEqual(await service.pid(), pid);
  });
}

test("a clean stop is the end: no restart, the port closed, until it is started again", async () => {
  await installWith("RestartSec=0");
  await service.done("service", "stop");
  assert.deepEqual(
    [
      await service.property("ActiveState"),
      await service.property("SubState"),
      await service.property("Result"),
    ],
    ["inactive", "dead", "success"],
  );
  assert.equal(await service.answer(), "ECONNREFUSED");
  await service.done("service", "start");
  assert.equal(await service.answer(), 200);
});

test("one that cannot start is not started for ever; status and start tell why", async () => {
  await installWith("RestartSec=0");
  service.ownFile(CONFIG, `{ "listen": { "port": "eight" } }`);
  const { code } = await service.container.user("systemctl", "--user", "restart", "tollkeeper.service");
  assert.equal(code, 1);
  await until(
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
  await service.done("service", "start");
  assert.equal(await service.answer(), 200);
});

test("one whose Node has vanished: the command that starts it says so, and what mends it", async () => {
  await installWith("RestartSec=0");
  // Not at once again: then it is told while it waits for its next attempt.
  await service.override("RestartSec=60", "ExecStart=", "ExecStart=/opt/vanished/bin/node serve");
  const { code, stderr } = await service.tollkeeper("service", "restart");
  assert.equal(code, 1);
  assert.match(stderr, /its Node or its program is not there any more/);
  assert.match(stderr, /hint: .*tollkeeper service install/);
});
