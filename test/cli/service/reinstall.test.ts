// `service install` over an existing installation.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openControlSocket } from "../../../src/adapters/control-socket.ts";
import { programBuild } from "../../../src/adapters/program-build.ts";
import { programVersion } from "../../../src/adapters/program.ts";
import type { DaemonStatus } from "../../../src/daemon/status.ts";
import type { Log } from "../../../src/ports.ts";
import { readValues, parseCommandLine } from "../../../src/service/systemd/unit-syntax.ts";
import { controlHandlers, daemonStatusWith } from "../../helpers/daemon/control-handlers.ts";
import { LISTENING, RUNNING } from "../../service/systemd/stub-systemd.ts";
import {
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

/** Creates a service whose daemon runs another program until it is restarted. */
async function serviceOfOtherProgram(t: TestContext, other: Partial<DaemonStatus>): Promise<ServiceHome> {
  const home = homeWithSystemd(t, { service: RUNNING, socket: LISTENING });
  writeInstallation(home);
  const status = () =>
    daemonStatusWith({
      version: programVersion(),
      build: programBuild(),
      pid: RUNNING.MainPID,
      openExchanges: 2,
      ...(home.commands().includes(RESTART) ? {} : other),
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
    const own = join(home.home, "own.jsonc");
    writeFileSync(own, readFileSync(daemon.configFile));
    await home.service("install", "--config", own);
    const { code, stdout, stderr } = await home.service("install");
    assert.equal(code, 0, stderr);
    assert.equal(configFileIn(home), own);
    const message = `^using the configuration that the service was installed with: ${own} `;
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

const VERSION = programVersion().replaceAll(".", "\\.");

const OTHERS: [what: string, other: Partial<DaemonStatus>, says: string][] = [
  ["another version", { version: "0.0.1" }, `tollkeeper 0\\.0\\.1, but this command is version ${VERSION}`],
  [
    "another build of this version",
    { build: "0123456789ab" },
    `another build of tollkeeper ${VERSION} than this command`,
  ],
  [
    "a version from before builds were told apart",
    { build: undefined as unknown as null },
    `another build of tollkeeper ${VERSION} than this command`,
  ],
];

for (const [what, other, says] of OTHERS) {
  test(
    `install restarts a daemon of ${what} even when no file changes, and shows how many exchanges may finish`,
    { skip: noLinux },
    async (t) => {
      const home = await serviceOfOtherProgram(t, other);
      const { code, stdout, stderr } = await home.service("install");
      assert.equal(code, 0, stderr);
      assert.match(stdout, new RegExp(`^the daemon still runs ${says}; restarting it$`, "m"));
      assert.match(stdout, /^waiting for 2 open requests to finish; until then new connections wait$/m);
      assert.equal(home.commands().at(-1), RESTART);
    },
  );

  test(`install --dry-run shows the restart of a daemon of ${what}`, { skip: noLinux }, async (t) => {
    const home = await serviceOfOtherProgram(t, other);
    const { code, stdout } = await home.service("install", "--dry-run");
    assert.equal(code, 0);
    const shown = `^the daemon still runs ${says}; unless the steps above restart it, these follow:\\n[^]*^ {4}run: .* restart `;
    assert.match(stdout, new RegExp(shown, "m"));
    assert.deepEqual(home.commands(), []);
  });
}

test("install leaves a daemon of this program running", { skip: noLinux }, async (t) => {
  const home = await serviceOfOtherProgram(t, {});
  const { code, stderr } = await home.service("install");
  assert.equal(code, 0, stderr);
  assert.ok(!home.commands().includes(RESTART));
});
