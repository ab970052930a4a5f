import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { assertComplete, holdStreams } from "../../helpers/client/many-streams.ts";
import { noDaemonAs } from "../../helpers/process/other-user.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { LISTENING, RUNNING } from "../../service/systemd/stub-systemd.ts";
import { homeOfDaemon, homeWithSystemd, noLinux, writeInstallation } from "../service/service-home.ts";

/** As whom a container may run its program: in no list of users. */
const NAMELESS = 61_234;

test(
  "start and restart wait for the daemon of the configuration that was installed, and say where it listens",
  { skip: noLinux },
  async (t) => {
    const daemon = await startDaemon(t);
    const service = { ...RUNNING, MainPID: daemon.pid };
    const home = homeWithSystemd(t, { service, socket: LISTENING }, daemon.home);
    writeInstallation(home, { configFile: daemon.configFile, port: daemon.port });
    const { code, stdout, stderr } = await home.service("restart");
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      new RegExp(`^tollkeeper is running \\(pid ${daemon.pid}\\) and listens on 127`, "m"),
    );
    assert.equal(home.commands().at(-1), "systemctl --user restart tollkeeper.service");
  },
);

test(
  "a configuration with faults is named before a restart, which then does not happen",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, { service: RUNNING });
    const configFile = join(home.home, "c.jsonc");
    writeFileSync(configFile, '{ "listen": 1 }');
    writeInstallation(home, { configFile });
    const { code, stderr } = await home.service("restart");
    assert.equal(code, 1);
    assert.match(stderr, /^error: the configuration is not usable\n/);
    assert.deepEqual(home.commands(), []);
  },
);

test(
  "uninstall removes what is ours, keeps the person's own, and says where ledger and configuration are",
  { skip: noLinux },
  async (t) => {
    const home = homeWithSystemd(t, { service: RUNNING });
    const configFile = join(home.home, "own.jsonc");
    writeFileSync(configFile, "{}");
    writeInstallation(home, { configFile });
    mkdirSync(join(home.home, "state", "tollkeeper", "ledger"), { recursive: true });
    writeFileSync(join(home.units, "tollkeeper.service.d", "own.conf"), "");
    const dry = await home.service("uninstall", "--dry-run");
    assert.equal(dry.code, 0);
    assert.ok(existsSync(join(home.units, "tollkeeper.service")));
    assert.deepEqual(home.commands(), []);

    const { code, stdout } = await home.service("uninstall");
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(home.units, { recursive: true }).map(String).sort(), [
      "tollkeeper.service.d",
      "tollkeeper.service.d/own.conf",
    ]);
    assert.match(stdout, new RegExp(`^kept: the configuration, ${configFile}$`, "m"));
    assert.match(stdout, new RegExp(`^kept: the ledger, ${home.home}/state/tollkeeper/ledger$`, "m"));
    const withoutIt = homeWithSystemd(t, {}, home.home);
    const again = await withoutIt.service("uninstall");
    assert.deepEqual([again.code, withoutIt.commands()], [0, []]);
    assert.match(again.stdout, /^nothing to do$/m);
  },
);

test("service without a word of what to do is wrong usage", { skip: noLinux }, async (t) => {
  const { code, stderr } = await homeWithSystemd(t).service();
  assert.equal(code, 2);
  assert.match(stderr, /install, uninstall, start, stop, restart, status or logs/);
});

test("uninstall does not say of what is not there that it stays", { skip: noLinux }, async (t) => {
  const home = homeWithSystemd(t);
  writeInstallation(home, { configFile: join(home.home, "none.jsonc") });
  const { code, stdout } = await home.service("uninstall");
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /stays/);
});

test(
  "restart says how many exchanges it waits for, and what becomes of new connections",
  { skip: noLinux },
  async (t) => {
    const streams = await holdStreams(t);
    const daemon = await startDaemon(t, { config: streams.config });
    const clients = await streams.open(daemon.port, 2);
    const home = homeOfDaemon(t, daemon);
    writeInstallation(home, { configFile: daemon.configFile, port: daemon.port });
    const { code, stdout, stderr } = await home.service("restart");
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^waiting for 2 open requests to finish; until then new connections wait\nrunning: /m,
    );
    streams.finish();
    await assertComplete(clients);
  },
);

test(
  "where no service can be, neither a user id without a name nor its log is a reason for a raw error",
  { skip: noDaemonAs(NAMELESS) },
  async (t) => {
    const home = scratchDirectory(t);
    chmodSync(home, 0o755);
    const options = { uid: NAMELESS, gid: NAMELESS, cwd: "/", env: { HOME: home, PATH: "/none" } };
    for (const [word, said] of [
      ["status", /^error: systemd is not running (?:on this system|in this container)\n/],
      [
        "logs",
        /^error: systemd is not running .*\nhint: without a service, the log is [^]*serve --log-file /,
      ],
    ] as const) {
      const ran = spawnSync(process.execPath, [PROGRAM, "service", word], { ...options, encoding: "utf8" });
      assert.equal(ran.status, 1);
      assert.match(ran.stderr, said);
    }
  },
);
