import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ServiceReport } from "../../src/cli/service-status.ts";
import { renderService, renderSocket } from "../../src/service/systemd/units.ts";
import { startDaemon } from "../helpers/daemon.ts";
import { LISTENING, putUnits, RUNNING } from "../service/systemd/fake-systemd.ts";
import { unitPaths } from "../../src/service/systemd/units.ts";
import { targetFor } from "../service/systemd/target.ts";
import { homeWithSystemd, noLinux, type ServiceHome } from "./service-commands.ts";

/** Puts the units of an installation there, with a Node and a program that exist unless told otherwise. */
function putInstallation({ units }: ServiceHome, changes: Parameters<typeof targetFor>[0] = {}): void {
  const target = targetFor({ node: process.execPath, script: process.execPath, ...changes });
  putUnits(unitPaths(units), {
    service: renderService(target),
    socket: renderSocket(target.port, true),
    sandbox: "[Service]\n",
  });
}

test("status of a service that runs has a line for each fact, and exits 0", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t, {
    service: { ...RUNNING, ActiveEnterTimestamp: "Sat 2026-11-21 10:00:00 UTC" },
    socket: LISTENING,
    linger: "no",
  });
  putInstallation(home);
  const { code, stdout, stderr } = await home.service("status");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(stdout.split("\n"), [
    "service     running, pid 42: active (running) since Sat 2026-11-21 10:00:00 UTC",
    "enabled     yes, it starts at login",
    `node        ${process.execPath}`,
    `script      ${process.execPath}`,
    "port        8655, where systemd listens for it",
    "linger      no, it ends with your last session",
    `files       ${home.units}/tollkeeper.service`,
    `            ${home.units}/tollkeeper.socket`,
    `            ${home.units}/tollkeeper.service.d/sandbox.conf`,
    "what the daemon does: tollkeeper status",
    "",
  ]);
});

test(
  "status names a Node that has gone and a port that is not the configuration's any more",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, {
      service: { ActiveState: "failed", Result: "exit-code", ExecMainStatus: 203 },
    });
    putInstallation(home, { node: "/gone/node", port: 9000 });
    const { code, stdout } = await home.service("status");
    assert.equal(code, 1);
    assert.match(stdout, /^service +not running: failed \(dead, exit-code, status 203\)$/m);
    assert.match(stdout, /^node +\/gone\/node; it is not there any more, .*tollkeeper service install$/m);
    assert.match(stdout, /^port +9000; the configuration says 8655, .*tollkeeper service install$/m);
  },
);

test("status --json is the same as one object, and exits alike", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t);
  putInstallation(home, { node: "/gone/node" });
  const { code, stdout } = await home.service("status", "--json");
  assert.equal(code, 1);
  const report = JSON.parse(stdout) as ServiceReport;
  assert.deepEqual(
    [report.manager, report.isInstalled, report.isRunning, report.nodeExists, report.scriptExists],
    ["systemd", true, false, false, true],
  );
  assert.deepEqual([report.port, report.configuredPort, report.outlivesLogin], [8655, 8655, null]);
});

test(
  "status, start and restart of what is not installed say how to install it",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t);
    const status = await home.service("status");
    assert.deepEqual(
      [status.code, status.stdout],
      [1, "service     not installed (systemd); install it with: tollkeeper service install\n"],
    );
    for (const word of ["start", "restart"]) {
      const { code, stderr } = await home.service(word);
      assert.equal(code, 1);
      assert.equal(stderr, "error: the service is not installed\nhint: type: tollkeeper service install\n");
    }
    assert.deepEqual(home.orders(), []);
  },
);

test(
  "start and restart wait for the daemon of the configuration that was installed, and say where it listens",
  { skip: noLinux },
  async (t) => {
    const daemon = await startDaemon(t);
    const service = { ...RUNNING, MainPID: daemon.pid };
    const home = homeWithSystemd(t, { service, socket: LISTENING }, daemon.home);
    putInstallation(home, { configFile: daemon.configFile, port: daemon.port });
    const { code, stdout, stderr } = await home.service("restart");
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`^tollkeeper runs \\(pid ${daemon.pid}\\) and listens on 127`, "m"));
    assert.deepEqual(home.orders(), ["systemctl --user restart tollkeeper.service"]);
  },
);

test(
  "a configuration with faults is named before a restart, which then does not happen",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, { service: RUNNING });
    const configFile = join(home.home, "c.jsonc");
    writeFileSync(configFile, '{ "listen": 1 }');
    putInstallation(home, { configFile });
    const { code, stderr } = await home.service("restart");
    assert.equal(code, 1);
    assert.match(stderr, /^error: the configuration is not usable\n/);
    assert.deepEqual(home.orders(), []);
  },
);

test("stop stops the service, and says when it starts again", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t, { service: RUNNING });
  putInstallation(home);
  const { code, stderr } = await home.service("stop");
  assert.equal(code, 0);
  assert.match(stderr, /^note: it starts again at the next login/);
  assert.deepEqual(home.orders(), ["systemctl --user stop tollkeeper.socket tollkeeper.service"]);
});

test(
  "stop lets a daemon that was started by hand finish, with a service manager or without",
  { skip: noLinux },
  async (t) => {
    for (const systemctl of [[], [{ match: "*", code: 127 }]]) {
      const daemon = await startDaemon(t);
      const home = homeWithSystemd(t, { systemctl }, daemon.home);
      const { code, stdout, stderr } = await home.service("stop");
      assert.equal(code, 0, stderr);
      assert.match(
        stdout,
        new RegExp(`^the daemon that was started by hand, pid ${daemon.pid}, stops$`, "m"),
      );
      assert.equal(await daemon.ended, 0);
    }
  },
);

test(
  "uninstall removes what is ours, keeps the person's own, and says where ledger and configuration are",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, { service: RUNNING });
    putInstallation(home, { configFile: "/etc/own.jsonc" });
    mkdirSync(join(home.home, "state", "tollkeeper"), { recursive: true });
    writeFileSync(join(home.units, "tollkeeper.service.d", "own.conf"), "");
    const dry = await home.service("uninstall", "--dry-run");
    assert.equal(dry.code, 0);
    assert.ok(existsSync(join(home.units, "tollkeeper.service")));
    assert.deepEqual(home.orders(), []);

    const { code, stdout } = await home.service("uninstall");
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(home.units, { recursive: true }).map(String).sort(), [
      "tollkeeper.service.d",
      "tollkeeper.service.d/own.conf",
    ]);
    assert.match(stdout, /^the configuration stays: \/etc\/own\.jsonc$/m);
    assert.match(stdout, new RegExp(`^the ledger stays: ${home.home}/state/tollkeeper/ledger$`, "m"));
    const before = home.orders().length;
    const again = await home.service("uninstall");
    assert.deepEqual([again.code, home.orders().length], [0, before]);
    assert.match(again.stdout, /^nothing is to be done$/m);
  },
);

test(
  "logs hands the terminal to journalctl, and says when the journal shows nothing",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, { journal: "one\ntwo\n" });
    const { code, stdout, stderr } = await home.service("logs", "-n", "2");
    assert.deepEqual([code, stdout, stderr], [0, "one\ntwo\n", ""]);
    const silent = await homeWithSystemd(t).service("logs");
    assert.match(silent.stderr, /^note: the log holds nothing that this user may read/);
    const wrong = await home.service("logs", "-n", "x");
    assert.equal(wrong.code, 2);
  },
);

test("service without a word of what to do is wrong usage", { skip: noLinux }, async (t) => {
  const { code, stderr } = await homeWithSystemd(t).service();
  assert.equal(code, 2);
  assert.match(stderr, /install, uninstall, start, stop, restart, status or logs/);
});
