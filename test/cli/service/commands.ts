import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { renderService, renderSocket, unitPaths } from "../../../src/service/systemd/units.ts";
import { startDaemon, type CommandResult, type Daemon } from "../../helpers/daemon/daemon.ts";
import { fakePrograms, type FakeAnswer } from "../../helpers/process/fake-programs.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import {
  LISTENING,
  putUnits,
  RUNNING,
  showUnits,
  type UnitAnswers,
} from "../../service/systemd/fake-systemd.ts";
import { targetFor } from "../../service/systemd/target.ts";

/** Why nothing here can be tried, for `test(..., { skip })`; false when it can. */
export const noLinux: string | false =
  process.platform !== "linux" && "needs Linux: systemd is faked, its paths are not";

/** What a faked systemd and its friends say. */
export interface SystemdAnswers extends UnitAnswers {
  /** Before the usual ones. */
  systemctl?: FakeAnswer[];
  systemdRun?: FakeAnswer[];
  journalctl?: FakeAnswer[];
  /** What the journal holds. */
  journal?: string;
}

/** A user's home with a systemd that records what it is told. */
export interface ServiceHome {
  home: string;
  env: Record<string, string>;
  /** Where the units go. */
  units: string;
  /** Runs `tollkeeper service ...` there. */
  service(...words: string[]): Promise<CommandResult>;
  /** What systemd was told to do, without what it was only asked. */
  orders(): string[];
}

/** A home of its own, or that of a daemon which runs already, with a faked systemd; gone with the test. */
export function homeWithSystemd(
  t: TestContext,
  answers: SystemdAnswers = {},
  home: string = scratchDirectory(t),
): ServiceHome {
  const units = join(home, "config", "systemd", "user");
  mkdirSync(join(home, "run"), { recursive: true, mode: 0o700 });
  const unitPath = `/etc/x ${home}/run/systemd/transient ${units} /etc/systemd/user`;
  const { directory, calls } = fakePrograms(t, {
    systemctl: [
      ...(answers.systemctl ?? []),
      { match: "--user show --property=UnitPath", stdout: `UnitPath=${unitPath}\n` },
      { match: "--user show *", stdout: showUnits(answers) },
    ],
    "systemd-run": answers.systemdRun ?? [],
    loginctl: answers.linger === undefined ? [] : [{ match: "*", stdout: `Linger=${answers.linger}\n` }],
    journalctl: [...(answers.journalctl ?? []), { match: "*", stdout: answers.journal ?? "" }],
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
    service: (...words) => runProgram(["service", ...words], env),
    orders: () =>
      calls()
        .map((call) => call.join(" "))
        .filter(
          (call) => /^(?:systemctl|systemd-run)/.test(call) && !call.startsWith("systemctl --user show"),
        ),
  };
}

/** A daemon which the faked systemd says that it has started, and the port that its configuration names. */
export async function startedBySystemd(t: TestContext, answers: SystemdAnswers = {}) {
  const port = await freePort();
  const daemon = await startDaemon(t, { port });
  return { daemon, port, ...beside(t, daemon, answers) };
}

/** The home of a daemon with a faked systemd that says that it has started it. */
export function beside(t: TestContext, daemon: Daemon, answers: SystemdAnswers = {}): ServiceHome {
  const service = { ...RUNNING, MainPID: daemon.pid };
  return homeWithSystemd(t, { service, socket: LISTENING, ...answers }, daemon.home);
}

/** The words that name a daemon's configuration. */
export const fromConfig = ({ configFile }: Daemon): string[] => ["--config", configFile];

/** Puts the units of an installation there, with a Node and a program that exist unless told otherwise. */
export function putInstallation({ units }: ServiceHome, changes: Parameters<typeof targetFor>[0] = {}): void {
  const target = targetFor({ node: process.execPath, script: process.execPath, ...changes });
  putUnits(unitPaths(units), {
    service: renderService(target),
    socket: renderSocket(target.port, true),
    sandbox: "[Service]\n",
  });
}

/** Runs the program to its end in just these surroundings. */
export function runProgram(words: string[], env: Record<string, string>): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
