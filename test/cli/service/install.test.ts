import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readValues, parseCommandLine } from "../../../src/service/systemd/unit-syntax.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { configOption, homeWithSystemd, noLinux, startDaemonBySystemd } from "./service-home.ts";

const ENABLE = "systemctl --user enable --now tollkeeper.socket tollkeeper.service";

test(
  "install writes the units, tries the sandbox, starts the service and prints where it listens",
  { skip: noLinux },
  async (t) => {
    const { daemon, port, units, service, commands } = await startDaemonBySystemd(t, { linger: "no" });
    const { code, stdout, stderr } = await service("install", ...configOption(daemon));
    assert.equal(code, 0, stderr);
    assert.deepEqual(readdirSync(units, { recursive: true }).map(String).sort(), [
      "tollkeeper.service",
      "tollkeeper.service.d",
      "tollkeeper.service.d/sandbox.conf",
      "tollkeeper.socket",
    ]);
    const unit = readFileSync(join(units, "tollkeeper.service"), "utf8");
    const [node, ...args] = parseCommandLine(readValues(unit, "ExecStart")[0] ?? "");
    assert.ok(existsSync(node ?? ""));
    assert.deepEqual(args, [realpathSync(PROGRAM), "serve", ...configOption(daemon)]);
    assert.match(unit, new RegExp(`^Environment=XDG_STATE_HOME=${daemon.home}/state$`, "m"));
    const socket = readFileSync(join(units, "tollkeeper.socket"), "utf8");
    assert.equal(readValues(socket, "ListenStream")[0], `127.0.0.1:${port}`);
    assert.deepEqual(
      commands().map((order) => order.replace(/^(systemd-run) .*/, "$1")),
      [
        "systemd-run",
        "systemctl --user daemon-reload",
        "systemctl --user stop tollkeeper.socket tollkeeper.service",
        "systemctl --user reset-failed tollkeeper.socket tollkeeper.service",
        "systemctl --user try-restart tollkeeper.service",
        ENABLE,
      ],
    );
    assert.match(
      stdout,
      new RegExp(
        `^tollkeeper is running as a service \\(pid ${daemon.pid}\\) and listens on 127\\.0\\.0\\.1:${port} `,
        "m",
      ),
    );
    assert.match(stdout, /^to see its log, type: tollkeeper service logs$/m);
    assert.match(stderr, /^note: .*loginctl enable-linger/m);
  },
);

test("a second install writes nothing and does not restart the daemon", { skip: noLinux }, async (t) => {
  const { daemon, service, commands } = await startDaemonBySystemd(t);
  await service("install", ...configOption(daemon));
  const before = commands().length;
  const { code, stdout } = await service("install", ...configOption(daemon));
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /^(?:wrote|made|removed)/m);
  const [trial = "", ...rest] = commands().slice(before);
  assert.match(trial, /^systemd-run /);
  assert.deepEqual(rest, [
    "systemctl --user daemon-reload",
    "systemctl --user reset-failed tollkeeper.socket tollkeeper.service",
    ENABLE,
  ]);
});

test(
  "install leaves the sandbox out and says so when the kernel refuses it",
  { skip: noLinux },
  async (t) => {
    const systemdRun = [{ match: "*", code: 226, stderr: "" }];
    const { daemon, units, service } = await startDaemonBySystemd(t, { systemdRun });
    const { code, stdout } = await service("install", ...configOption(daemon));
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^the sandbox of sandbox\.conf does not work on this system and is left out: its directories cannot be mounted: /m,
    );
    assert.deepEqual(readdirSync(units).sort(), ["tollkeeper.service", "tollkeeper.socket"]);
  },
);

test(
  "install --dry-run shows every file and every command, and changes nothing",
  { skip: noLinux },
  async (t) => {
    const { home, units, service, commands } = homeWithSystemd(t, { linger: "yes" });
    const before = readdirSync(home).sort();
    const { code, stdout, stderr } = await service("install", "--dry-run");
    assert.equal(code, 0, stderr);
    for (const line of [
      `write ${units}/tollkeeper.service (mode 0644):`,
      "    Type=notify",
      `write ${units}/tollkeeper.socket (mode 0644):`,
      "    ListenStream=127.0.0.1:8655",
      `    write ${units}/tollkeeper.service.d/sandbox.conf (mode 0644):`,
      "        PrivateUsers=yes",
      `run: ${ENABLE}`,
    ]) {
      assert.ok(stdout.split("\n").includes(line), line);
    }
    assert.match(
      stdout,
      /^try the sandbox of sandbox\.conf: systemd-run --user .*--property=PrivateUsers=yes /m,
    );
    assert.deepEqual(readdirSync(home).sort(), before);
    assert.deepEqual(commands(), []);
  },
);

test("install reports an invalid configuration and changes nothing", { skip: noLinux }, async (t) => {
  const { home, units, service, commands } = homeWithSystemd(t);
  mkdirSync(join(home, "config", "tollkeeper"), { recursive: true });
  writeFileSync(join(home, "config", "tollkeeper", "config.jsonc"), '{ "listen": 1 }');
  const { code, stderr } = await service("install");
  assert.equal(code, 1);
  assert.match(stderr, /^error: the configuration is not usable\n.*config\.jsonc:1: listen: .*\nhint: /);
  assert.deepEqual([existsSync(units), commands()], [false, []]);
});

test(
  "install shows the newest log lines and the likely cause when the service does not start, and exits 1",
  { skip: noLinux },
  async (t) => {
    const output = "Job for tollkeeper.service failed because the control process exited with error code.\n";
    const { home, service } = homeWithSystemd(t, {
      service: {
        ActiveState: "activating",
        SubState: "auto-restart",
        Result: "exit-code",
        ExecMainStatus: 226,
      },
      systemctl: [{ match: "--user enable *", code: 1, stderr: output }],
      journalctl: [
        {
          match: "* --since=@*",
          stdout: "a line of today\ntollkeeper.service: Failed at step NAMESPACE spawning node\n",
        },
      ],
      journal: "error: port 8655 is taken by pid 1\n",
    });
    const configFile = join(home, "c.jsonc");
    writeFileSync(configFile, JSON.stringify({ listen: { port: await freePort() } }));
    const { code, stdout, stderr } = await service("install", "--config", configFile);
    assert.equal(code, 1);
    assert.doesNotMatch(stdout, /running as a service/);
    assert.match(
      stderr,
      /^the newest lines of its log:\n {4}a line of today\n {4}tollkeeper\.service: Failed at step/m,
    );
    assert.match(
      stderr,
      /^error: the service does not start \(activating \(auto-restart, exit-code, status 226\)\): its sandbox cannot be set up: .*\nhint: .*tollkeeper --config \S+ service install$/m,
    );
  },
);

test(
  "install refuses a path that systemd cannot represent before it writes anything",
  { skip: noLinux },
  async (t) => {
    const { units, service } = homeWithSystemd(t);
    const directory = join(scratchDirectory(t), "a\nb");
    mkdirSync(directory);
    writeFileSync(join(directory, "c.jsonc"), JSON.stringify({ listen: { port: await freePort() } }));
    const { code, stderr } = await service("install", "--config", join(directory, "c.jsonc"));
    assert.equal(code, 1);
    assert.match(stderr, /^error: systemd does not support control characters in a path: /m);
    assert.equal(existsSync(units), false);
  },
);

test(
  "install writes nothing where others could change what the service runs, and names the command that closes it",
  { skip: noLinux },
  async (t) => {
    const { daemon, units, service, commands } = await startDaemonBySystemd(t);
    mkdirSync(units, { recursive: true });
    const above = join(units, "..");
    chmodSync(above, 0o777);
    const { code, stderr } = await service("install", ...configOption(daemon));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /error: other users can replace \/.*, which says what the service runs: everyone can write to /,
    );
    assert.ok(stderr.includes(`hint: chmod go-w ${above}\n`), stderr);
    assert.deepEqual([readdirSync(units), commands()], [[], []]);
  },
);
