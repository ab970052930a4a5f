import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { ServiceTarget } from "../../../src/service/service-manager.ts";
import {
  renderService,
  renderSocket,
  SERVICE,
  SOCKET,
  unitPaths,
} from "../../../src/service/systemd/render-units.ts";
import { fakePrograms } from "../process/fake-programs.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** Options of a fake systemd in which tollkeeper is installed. */
export interface FakeSystemd {
  /** The port in the socket unit. */
  port: number;
  /** `active` by default. In `waiting` only the socket is active, in the other states neither unit. */
  state?: keyof typeof SERVICE_STATES;
  isEnabled?: boolean;
  node?: string;
  log?: string;
  /** The configuration that the unit names; none by default. */
  configFile?: string;
}

const STOPPED = "ActiveState=inactive\nSubState=dead\nResult=success\nMainPID=0\n";

/** The output of `systemctl show` for the service. */
const SERVICE_STATES = {
  active:
    "ActiveState=active\nSubState=running\nResult=success\nMainPID=1\nActiveEnterTimestamp=Sat 2026-11-21 10:00:00 UTC\n",
  failed: "ActiveState=failed\nSubState=failed\nResult=exit-code\nMainPID=0\nExecMainStatus=1\n",
  waiting: STOPPED,
  stopped: STOPPED,
};

/** Writes the units and fake programs of systemd, and returns the directory of the programs. */
export function createFakeSystemd(t: TestContext, systemd: FakeSystemd): string {
  const { port, state = "active", isEnabled = true, node = process.execPath, log = "" } = systemd;
  const directory = join(scratchDirectory(t), "systemd", "user");
  const paths = unitPaths(directory);
  const files = [
    [paths.service, unitNaming(systemd.configFile, targetOf(node, port))],
    [paths.socket, renderSocket(port)],
  ] as const;
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const enabled = `UnitFileState=${isEnabled ? "enabled" : "disabled"}\n`;
  const socket = `ActiveState=${["active", "waiting"].includes(state) ? "active" : "inactive"}\n`;
  const units = `Id=${SERVICE}\n${SERVICE_STATES[state]}${enabled}\nId=${SOCKET}\n${socket}${enabled}`;
  return fakePrograms(t, {
    systemctl: [
      { match: "--user show --property=UnitPath", stdout: `UnitPath=${directory}\n` },
      { match: `--user show ${SERVICE}*`, stdout: units },
    ],
    loginctl: [{ match: "*", stdout: "Linger=yes\n" }],
    journalctl: [{ match: "*", stdout: log }],
    "systemd-analyze": [],
  }).directory;
}

function unitNaming(configFile: string | undefined, target: ServiceTarget): string {
  if (configFile !== undefined) return renderService({ ...target, configFile });
  return renderService(target).replace(` --config ${target.configFile}`, "");
}

function targetOf(node: string, port: number): ServiceTarget {
  return {
    node,
    script: import.meta.filename,
    configFile: "/home/ada/.config/tollkeeper/config.jsonc",
    port,
    drainMs: 30_000,
    writableDirectories: [],
    trustedFiles: [],
    logFile: "/dev/null",
    launcher: "/dev/null",
    environment: {},
    runsKeyCommands: false,
    sandboxIncompatibleSettings: [],
  };
}
