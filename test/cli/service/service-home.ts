import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { renderService, renderSocket, unitPaths } from "../../../src/service/systemd/render-units.ts";
import { startDaemon, type CommandResult, type Daemon } from "../../helpers/daemon/daemon.ts";
import { fakePrograms, type FakeResult } from "../../helpers/process/fake-programs.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import {
  LISTENING,
  writeUnits,
  RUNNING,
  showUnits,
  type SystemdState,
} from "../../service/systemd/stub-systemd.ts";
import { targetFor } from "../../service/systemd/service-target.ts";

/** Why these tests are skipped, for `test(..., { skip })`; false when they can run. */
export const noLinux: string | false =
  process.platform !== "linux" && "needs Linux: systemd is faked, its paths are not";

/** The results of the fake systemctl, systemd-run, journalctl and loginctl. */
interface FakeSystemdOptions extends SystemdState {
  /** Results that take precedence over the default ones. */
  systemctl?: FakeResult[];
  systemdRun?: FakeResult[];
  journalctl?: FakeResult[];
  /** The contents of the journal. */
  journal?: string;
}

/** A home directory with a fake systemd that records its calls. */
export interface ServiceHome {
  home: string;
  env: Record<string, string>;
  /** The unit directory. */
  units: string;
  /** Runs `tollkeeper service ...` in this home. */
  service(...args: string[]): Promise<CommandResult>;
  /** Returns the calls of systemctl and systemd-run that are not mere queries. */
  commands(): string[];
}

/** Creates a home with a fake systemd, or adds a fake systemd to the home of a running daemon. Removed with the test. */
export function homeWithSystemd(
  t: TestContext,
  options: FakeSystemdOptions = {},
  home: string = scratchDirectory(t),
): ServiceHome {
  const units = join(home, "config", "systemd", "user");
  mkdirSync(join(home, "run"), { recursive: true, mode: 0o700 });
  const unitPath = `/etc/x ${home}/run/systemd/transient ${units} /etc/systemd/user`;
  const { directory, calls } = fakePrograms(t, {
    systemctl: [
      ...(options.systemctl ?? []),
      { match: "--user show --property=UnitPath", stdout: `UnitPath=${unitPath}\n` },
      { match: "--user show *", stdout: showUnits(options) },
    ],
    "systemd-run": options.systemdRun ?? [],
    loginctl: options.linger === undefined ? [] : [{ match: "*", stdout: `Linger=${options.linger}\n` }],
    "systemd-analyze": [],
    journalctl: [...(options.journalctl ?? []), { match: "*", stdout: options.journal ?? "" }],
  });
  const env = {
    PATH: `${directory}:${process.env["PATH"]}`,
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_RUNTIME_DIR: join(home, "run"),
  };
  return {
    home,
    env,
    units,
    service: (...args) => runProgram(["service", ...args], { env }),
    commands: () =>
      calls()
        .map((call) => call.join(" "))
        .filter(
          (call) => /^(?:systemctl|systemd-run)/.test(call) && !call.startsWith("systemctl --user show"),
        ),
  };
}

/** Starts a daemon that the fake systemd reports as its own service. */
export async function startDaemonBySystemd(t: TestContext, options: FakeSystemdOptions = {}) {
  const port = await freePort();
  const daemon = await startDaemon(t, { port });
  return { daemon, port, ...homeOfDaemon(t, daemon, options) };
}

/** Returns the home of a daemon with a fake systemd that reports the daemon as its own service. */
export function homeOfDaemon(t: TestContext, daemon: Daemon, options: FakeSystemdOptions = {}): ServiceHome {
  const service = { ...RUNNING, MainPID: daemon.pid };
  return homeWithSystemd(t, { service, socket: LISTENING, ...options }, daemon.home);
}

/** Returns the option that names a daemon's configuration. */
export const configOption = ({ configFile }: Daemon): string[] => ["--config", configFile];

/** Writes the units of an installation, by default with a Node and a script that exist, and the default configuration. */
export function writeInstallation(
  { units }: ServiceHome,
  changes: Parameters<typeof targetFor>[0] = {},
): void {
  const usual = {
    node: process.execPath,
    script: process.execPath,
    configFile: join(units, "../../tollkeeper/config.jsonc"),
  };
  const target = targetFor({ ...usual, ...changes });
  writeUnits(unitPaths(units), {
    service: renderService(target),
    socket: renderSocket(target.port),
    sandbox: "[Service]\n",
  });
}
