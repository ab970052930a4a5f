import assert from "node:assert/strict";
import { test } from "node:test";
import { renderSandbox, renderService, renderSocket } from "../../../src/service/systemd/render-units.ts";
import { LISTENING, writeUnits, RUNNING, createSystemd, type SystemdState } from "./stub-systemd.ts";
import { targetFor } from "./service-target.ts";

test("the state of a running service has its files, its pid and what its units name", async (t) => {
  const since = "Sat 2026-11-21 10:00:00 UTC";
  const service = { ...RUNNING, ActiveEnterTimestamp: since };
  const { systemd, paths } = createSystemd(t, { service, socket: LISTENING, linger: "no" });
  const target = targetFor({ node: "/opt/a b/node", configFile: "/etc/100% $x.jsonc", port: 9000 });
  writeUnits(paths, {
    service: renderService(target),
    socket: renderSocket(target.port, { hasIpv6: true }),
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

test("the state of a service that is not installed has neither files nor a pid", async (t) => {
  const { systemd } = createSystemd(t);
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

test("a manually written unit that finds the program on PATH names neither Node nor the script", async (t) => {
  const { systemd, paths } = createSystemd(t);
  writeUnits(paths, { service: "[Service]\nExecStart=-/usr/bin/env tollkeeper serve\n" });
  const { node, script, port } = await systemd.state();
  assert.deepEqual([node, script, port], [null, null, null]);
});

const DETAILS: [SystemdState["service"], string][] = [
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
  test(`the state describes the service as systemd does: ${detail}`, async (t) => {
    const state = await createSystemd(t, { service: service ?? {} }).systemd.state();
    assert.deepEqual([state.detail, state.isRunning], [detail, false]);
    assert.equal(state.hasFailed, detail !== "activating (start)");
  });
}

test("a socket that cannot listen counts as failed, and a service that systemd has restarted does not", async (t) => {
  const hasFailed = async (state: SystemdState) => (await createSystemd(t, state).systemd.state()).hasFailed;
  assert.equal(await hasFailed({ socket: { ActiveState: "failed", Result: "resources" } }), true);
  assert.equal(await hasFailed({ service: { ...RUNNING, Result: "watchdog" } }), false);
});
