// An installation over one that is there.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openControlSocket } from "../../../src/adapters/control-socket.ts";
import { programVersion } from "../../../src/adapters/program.ts";
import type { Log } from "../../../src/ports.ts";
import { valuesOf } from "../../../src/service/systemd/unit-file.ts";
import { readCommandLine } from "../../../src/service/systemd/exec-quoting.ts";
import { controlHandlers } from "../../helpers/daemon/control-handlers.ts";
import { LISTENING, RUNNING } from "../../service/systemd/fake-systemd.ts";
import {
  fromConfig,
  homeWithSystemd,
  noLinux,
  putInstallation,
  startedBySystemd,
  type ServiceHome,
} from "./commands.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

const RESTART = "systemctl --user restart tollkeeper.service";

/** The configuration file that the unit names. */
function configFileIn({ units }: ServiceHome): string | undefined {
  const unit = readFileSync(join(units, "tollkeeper.service"), "utf8");
  const words = readCommandLine(valuesOf(unit, "ExecStart")[0] ?? "");
  return words[words.indexOf("--config") + 1];
}

/** A service whose daemon is of another version until it is restarted. */
async function serviceOfOtherVersion(t: TestContext): Promise<ServiceHome> {
  const home = homeWithSystemd(t, { service: RUNNING, socket: LISTENING });
  putInstallation(home);
  const status = () => ({
    version: home.orders().includes(RESTART) ? programVersion() : "0.0.1",
    pid: RUNNING.MainPID,
    listening: ["127.0.0.1:8655"],
  });
  const path = join(home.home, "run", "tollkeeper", "control.sock");
  const control = await openControlSocket(path, controlHandlers({ status }), SILENT);
  t.after(() => control.close());
  return home;
}

test(
  "install without --config keeps the configuration that it was installed with, and says so",
  { skip: noLinux },
  async (t) => {
    const { daemon, ...home } = await startedBySystemd(t);
    await home.service("install", ...fromConfig(daemon));
    const { code, stdout, stderr } = await home.service("install");
    assert.equal(code, 0, stderr);
    assert.equal(configFileIn(home), daemon.configFile);
    const told = `^the configuration is the one that it was installed with: ${daemon.configFile} `;
    assert.match(stdout, new RegExp(told, "m"));
  },
);

test(
  "the default configuration is named, too, and found again from a session with another XDG_CONFIG_HOME",
  { skip: noLinux },
  async (t) => {
    const { daemon, ...home } = await startedBySystemd(t);
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
    assert.equal(home.orders().at(-1), RESTART);
  },
);

test(
  "a daemon of another version is restarted, though nothing was to be written",
  { skip: noLinux },
  async (t) => {
    const home = await serviceOfOtherVersion(t);
    const { code, stdout, stderr } = await home.service("install");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^the daemon that runs is of version 0\.0\.1; this is /m);
    assert.equal(home.orders().at(-1), RESTART);
  },
);

test("--dry-run shows that restart, too", { skip: noLinux }, async (t) => {
  const home = await serviceOfOtherVersion(t);
  const { code, stdout } = await home.service("install", "--dry-run");
  assert.equal(code, 0);
  assert.match(stdout, /^if version 0\.0\.1 still runs then \(this is [^)]+\):\n[^]*^ {4}run: .* restart /m);
  assert.deepEqual(home.orders(), []);
});
