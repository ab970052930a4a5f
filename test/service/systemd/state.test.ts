import assert from "node:assert/strict";
import { test } from "node:test";
import { renderSandbox, renderService, renderSocket } from "../../../src/service/systemd/units.ts";
import { LISTENING, putUnits, RUNNING, startSystemd, type UnitAnswers } from "./fake-systemd.ts";
import { targetFor } from "./target.ts";

test("a service that runs is told with its files, its process and what it was installed with", async (t) => {
  const since = "Sat 2026-11-21 10:00:00 UTC";
  const service = { ...RUNNING, ActiveEnterTimestamp: since };
  const { systemd, paths } = startSystemd(t, { service, socket: LISTENING, linger: "no" });
  const target = targetFor({ node: "/opt/a b/node", configFile: "/etc/100% $x.jsonc", port: 9000 });
  putUnits(paths, {
    service: renderService(target),
    socket: renderSocket(target.port, true),
    sandbox: renderSandbox(target),
  });
  assert.deepEqual(await systemd.state(), {
    files: [paths.service, paths.socket, paths.sandbox],
    isInstalled: true,
    isEnabled: true,
    isRunning: true,
    hasFailed: false,
    pid: 42,
    holdsPort: true,
    outlivesLogin: false,
    node: "/opt/a b/node",
    script: target.script,
    configFile: "/etc/100% $x.jsonc",
    port: 9000,
    drainMs: null,
    detail: `active (running) since ${since}`,
  });
});

test("what is not installed has neither files nor process", async (t) => {
  const { systemd } = startSystemd(t);
  assert.deepEqual(await systemd.state(), {
    files: [],
    isInstalled: false,
    isEnabled: false,
    isRunning: false,
    hasFailed: false,
    pid: null,
    holdsPort: false,
    outlivesLogin: null,
    node: null,
    script: null,
    configFile: null,
    port: null,
    drainMs: null,
    detail: "inactive (dead)",
  });
});

test("a unit made by hand, which finds the program on PATH, names neither Node nor program", async (t) => {
  const { systemd, paths } = startSystemd(t);
  putUnits(paths, { service: "[Service]\nExecStart=-/usr/bin/env tollkeeper serve\n" });
  const { node, script, port } = await systemd.state();
  assert.deepEqual([node, script, port], [null, null, null]);
});

const DETAILS: [UnitAnswers["service"], string][] = [
  [
    { ActiveState: "failed", SubState: "failed", Result: "exit-code", ExecMainStatus: 203 },
    "failed (exit-code, status 203)",
  ],
  [{ ActiveState: "failed", SubState: "failed", Result: "watchdog" }, "failed (watchdog)"],
  [
    { ActiveState: "activating", SubState: "auto-restart", Result: "exit-code", ExecMainStatus: 1 },
    "activating (auto-restart, exit-code, status 1)",
  ],
  [{ ActiveState: "activating", SubState: "start", MainPID: 9 }, "activating (start)"],
];

for (const [service, detail] of DETAILS) {
  test(`systemd's own words: ${detail}`, async (t) => {
    const state = await startSystemd(t, { service: service ?? {} }).systemd.state();
    assert.deepEqual([state.detail, state.isRunning], [detail, false]);
    assert.equal(state.hasFailed, detail !== "activating (start)");
  });
}

test("a socket that cannot listen has failed, too; what systemd has started anew has not", async (t) => {
  const hasFailed = async (answers: UnitAnswers) =>
    (await startSystemd(t, answers).systemd.state()).hasFailed;
  assert.equal(await hasFailed({ socket: { ActiveState: "failed", Result: "resources" } }), true);
  assert.equal(await hasFailed({ service: { ...RUNNING, Result: "watchdog" } }), false);
});
