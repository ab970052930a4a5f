// `service install` over an existing installation.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openControlSocket } from "../../../src/adapters/control-socket.ts";
import { programVersion } from "../../../src/adapters/program.ts";
import type { Log } from "../../../src/ports.ts";
import { readValues, parseCommandLine } from "../../../src/service/systemd/unit-syntax.ts";
import { controlHandlers } from "../../helpers/daemon/control-handlers.ts";
import { LISTENING, RUNNING } from "../../service/systemd/stub-systemd.ts";
import {
  configOption,
  homeWithSystemd,
  noLinux,
  writeInstallation,
  startDaemonBySystemd,
  type ServiceHome,
} from "./service-home.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

const RESTART = "systemctl --user restart tollkeeper.service";

/** Returns the configuration file that the unit names. */
function configFileIn({ units }: ServiceHome): string | undefined {
  const unit = readFileSync(join(units, "tollkeeper.service"), "utf8");
  const args = parseCommandLine(readValues(unit, "ExecStart")[0] ?? "");
  return args[args.indexOf("--config") + 1];
}

/** Creates a service whose daemon has another version until it is restarted. */
async function serviceOfOtherVersion(t: TestContext): Promise<ServiceHome> {
  const home = homeWithSystemd(t, { service: RUNNING, socket: LISTENING });
  writeInstallation(home);
  const status = () => ({
    version: home.commands().includes(RESTART) ? programVersion() : "0.0.1",
    pid: RUNNING.MainPID,
    listening: ["127.0.0.1:8655"],
  });
  const path = join(home.home, "run", "tollkeeper", "control.sock");
  const control = await openControlSocket(path, controlHandlers({ status }), SILENT);
  t.after(() => control.close());
  return home;
}

test(
  "install without --config keeps the configuration file of the existing installation, and says so",
  { skip: noLinux },
  async (t) => {
    const { daemon, ...home } = await startDaemonBySystemd(t);
    await home.service("install", ...configOption(daemon));
    const { code, stdout, stderr } = await home.service("install");
    assert.equal(code, 0, stderr);
    assert.equal(configFileIn(home), daemon.configFile);
    const message = `^the configuration is the one that it was installed with: ${daemon.configFile} `;
    assert.match(stdout, new RegExp(message, "m"));
  },
);

test(
  "the unit names the default configuration file too, so that a session with another XDG_CONFIG_HOME finds it",
  { skip: noLinux },
  async (t) => {
    const { daemon, ...home } = await startDaemonBySystemd(t);
    const directory = join(home.home, "config", "tollkeeper");
    mkdirSync(directory, { recursive: true });
    const configFile = join(directory, "config.jsonc");
    writeFileSync(configFile, readFileSync(daemon.configFile));
    const first = await home.service("install");
    assert.equal(first.code, 0, first.stderr);
    assert.doesNotMatch(first.stdout, /installed with/);
    assert.equal(configFileIn(home), configFile);

    home.env["XDG_CONFIG_HOME"] = join(home.home, "elsewhere");
    const { code, stderr } = await home.service("restart");
    assert.equal(code, 0, stderr);
    assert.equal(home.commands().at(-1), RESTART);
  },
);

test(
  "install restarts a daemon of another version even when no file changes",
  { skip: noLinux },
  async (t) => {
    const home = await serviceOfOtherVersion(t);
    const { code, stdout, stderr } = await home.service("install");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^the daemon that runs is of version 0\.0\.1; this is /m);
    assert.equal(home.commands().at(-1), RESTART);
  },
);

test("install --dry-run shows the restart of a daemon of another version", { skip: noLinux }, async (t) => {
  const home = await serviceOfOtherVersion(t);
  const { code, stdout } = await home.service("install", "--dry-run");
  assert.equal(code, 0);
  assert.match(stdout, /^if version 0\.0\.1 still runs then \(this is [^)]+\):\n[^]*^ {4}run: .* restart /m);
  assert.deepEqual(home.commands(), []);
});
