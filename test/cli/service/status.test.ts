import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gatherEvidence } from "../../../src/cli/doctor/evidence.ts";
import { serviceCheck } from "../../../src/cli/doctor/checks/service.ts";
import {
  renderServiceReport,
  buildServiceReport,
  type ServiceReport,
} from "../../../src/cli/service/report.ts";
import { defaultConfig, type Config } from "../../../src/core/config/config.ts";
import { renderAgent } from "../../../src/service/launchd/agent.ts";
import { OUTPUT, createMac } from "../../service/launchd/fake-mac.ts";
import { targetFor } from "../../service/launchd/service-target.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { LISTENING, RUNNING } from "../../service/systemd/stub-systemd.ts";
import { homeWithSystemd, noLinux, writeInstallation, type ServiceHome } from "./service-home.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";

/** Writes a configuration with a port that nobody listens on; at the default one may be a daemon of the person's own. */
async function writeFreePort({ home }: ServiceHome): Promise<string> {
  const configFile = join(home, "c.jsonc");
  writeFileSync(configFile, JSON.stringify({ listen: { port: await freePort() } }));
  return configFile;
}

test(
  "service status of a running service prints one line for each fact and exits 0",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, {
      service: { ...RUNNING, ActiveEnterTimestamp: "Sat 2026-11-21 10:00:00 UTC" },
      socket: LISTENING,
      linger: "no",
    });
    writeInstallation(home);
    const { code, stdout, stderr } = await home.service("status");
    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(stdout.split("\n"), [
      "service     running, pid 42: active (running) since Sat 2026-11-21 10:00:00 UTC",
      "enabled     yes, it starts at login",
      `node        ${process.execPath}`,
      `script      ${process.execPath}`,
      "port        8655, where systemd listens for it",
      "linger      no, it stops when your last session ends",
      `files       ${home.units}/tollkeeper.service`,
      `            ${home.units}/tollkeeper.socket`,
      `            ${home.units}/tollkeeper.service.d/sandbox.conf`,
      "to see what the daemon is doing, type: tollkeeper status",
      "",
    ]);
  },
);

test(
  "service status reports a missing Node and a port that differs from the configuration",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, {
      service: { ActiveState: "failed", Result: "exit-code", ExecMainStatus: 203 },
    });
    writeInstallation(home, { node: "/gone/node", port: 9000 });
    const { code, stdout } = await home.service("status");
    assert.equal(code, 1);
    assert.match(stdout, /^service +not running: failed \(dead, exit-code, status 203\)$/m);
    assert.match(stdout, /^node +\/gone\/node; it no longer exists; .*tollkeeper service install$/m);
    assert.match(stdout, /^port +9000; the configuration has 8655; .*tollkeeper service install$/m);
  },
);

test("service status --json prints one object, with the same exit code", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t);
  writeInstallation(home, { node: "/gone/node" });
  const { code, stdout } = await home.service("status", "--json");
  assert.equal(code, 1);
  const report = parseJsonOutput(stdout) as ServiceReport;
  assert.deepEqual(
    [report.manager, report.isInstalled, report.isRunning, report.nodeExists, report.scriptExists],
    ["systemd", true, false, false, true],
  );
  assert.deepEqual([report.port, report.configuredPort, report.outlivesLogin], [8655, 8655, null]);
});

test(
  "service status, start and restart say how to install a service that is not installed",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t);
    const configFile = await writeFreePort(home);
    const status = await home.service("status", "--config", configFile);
    assert.deepEqual(
      [status.code, status.stdout],
      [
        1,
        `service     not installed (systemd); install it with: tollkeeper --config ${configFile} service install\n`,
      ],
    );
    for (const word of ["start", "restart"]) {
      const { code, stderr } = await home.service(word, "--config", configFile);
      assert.equal(code, 1);
      const hint = `hint: type: tollkeeper --config ${configFile} service install`;
      assert.equal(stderr, `error: the service is not installed\n${hint}\n`);
    }
    assert.deepEqual(home.commands(), []);
  },
);

/** A service whose last start failed, with an older failure in its log. */
const FAILED = {
  service: {
    ActiveState: "failed",
    SubState: "failed",
    Result: "exit-code",
    ExecMainStatus: 1,
    ExecMainStartTimestamp: "Sat 2026-11-21 10:00:00 UTC",
  },
  journalctl: [
    {
      match: "* --since=Sat 2026-11-21 10:00:00 UTC *",
      stdout:
        "error: port 8655 is taken by pid 3 (node x.js)\ntollkeeper.service: Failed with result 'exit-code'.\n",
    },
  ],
  journal: "error: the configuration is not usable\n",
};

test("service status explains why the last start failed and how to fix it", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t, FAILED);
  const holder = await startTcpUpstream(t, () => {});
  writeFileSync(join(home.home, "c.jsonc"), JSON.stringify({ listen: { port: holder.port } }));
  writeInstallation(home, { configFile: join(home.home, "c.jsonc"), port: holder.port });
  const { code, stdout } = await home.service("status");
  assert.equal(code, 1);
  const stop = `stop it with: kill ${process.pid}; then: tollkeeper service start; or `;
  assert.ok(
    stdout.includes(
      `not running: failed (exit-code, status 1)\nwhy         its port is taken by another program\n            ${stop}`,
    ),
    stdout,
  );
  const { diagnosis } = parseJsonOutput((await home.service("status", "--json")).stdout) as ServiceReport;
  assert.ok(diagnosis?.fix.startsWith(stop));
});

test(
  "service status says that only a start is missing once the cause is gone",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, FAILED);
    writeInstallation(home, { configFile: await writeFreePort(home), port: await freePort() });
    const { stdout } = await home.service("status");
    assert.match(
      stdout,
      /^why +its port was taken by another program, but is free now\n +tollkeeper service start$/m,
    );
  },
);

test(
  "service status points to the log when the cause of a failure is unknown, and gives no cause for a stopped service",
  { skip: noLinux },
  async (t) => {
    const silent = homeWithSystemd(t, { ...FAILED, journalctl: [{ match: "*" }] });
    writeInstallation(silent);
    assert.match(
      (await silent.service("status")).stdout,
      /^ +start it with: tollkeeper service start; see its log with: tollkeeper service logs$/m,
    );
    const stopped = homeWithSystemd(t, { journal: FAILED.journal });
    writeInstallation(stopped);
    const { stdout } = await stopped.service("status");
    assert.match(
      stdout,
      /^service +not running: inactive \(dead\)\n +start it with: tollkeeper service start\nenabled /,
    );
  },
);

const HEALTHY = { problems: [], diagnosis: null, searchPath: null };

/** Returns the state of a launchd service that was installed with a `limits.drainMs` of 30 s, and a changed configuration. */
async function launchdService(t: TestContext, drainMs: number) {
  const mac = createMac(t, { service: OUTPUT.running });
  mac.write(mac.file, renderAgent(targetFor(mac.home, { drainMs: 30_000, node: process.execPath })));
  const config: Config = { ...defaultConfig, limits: { ...defaultConfig.limits, drainMs } };
  return { state: await mac.launchd.state(), config };
}

test("the status report says when launchd allows streams less time than the configuration", async (t) => {
  for (const [drainMs, expected] of [
    [30_000, /^drain +open streams get 30 s to finish at a stop$/],
    [
      120_000,
      /^drain +.* 30 s to finish at a stop; the configuration has 120 s; .*tollkeeper service install$/,
    ],
  ] as const) {
    const { state, config } = await launchdService(t, drainMs);
    const lines = renderServiceReport(buildServiceReport("launchd", state, config, HEALTHY));
    assert.match(lines.find((line) => line.startsWith("drain")) ?? "", expected);
  }
});

test("doctor warns when launchd allows streams less time than the configuration", async (t) => {
  const { state, config } = await launchdService(t, 120_000);
  const findings = await serviceCheck.run({
    ...gatherEvidence(state.configFile ?? ""),
    config: () => Promise.resolve(config),
    service: () =>
      Promise.resolve({
        managerName: "launchd",
        state: { ...state, script: process.execPath },
        failure: null,
        variables: {},
        ...HEALTHY,
      }),
  });
  assert.deepEqual(findings, [
    {
      verdict: "warning",
      message: "launchd gives open streams 30 s to finish at a stop, but the configuration says 120 s",
      fix: "tollkeeper service install",
    },
  ]);
});
