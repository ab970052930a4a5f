import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { CommandResult } from "../helpers/daemon.ts";
import { fakePrograms, type FakeAnswer } from "../helpers/fake-programs.ts";
import { scratchDirectory } from "../helpers/keyring.ts";
import { PROGRAM } from "../helpers/program.ts";
import { showUnits, type UnitAnswers } from "../service/systemd/fake-systemd.ts";

/** Why nothing here can be tried, for `test(..., { skip })`; false when it can. */
export const noLinux: string | false =
  process.platform !== "linux" && "needs Linux: systemd is faked, its paths are not";

/** What a faked systemd and its friends say. */
export interface SystemdAnswers extends UnitAnswers {
  /** Before the usual ones. */
  systemctl?: FakeAnswer[];
  systemdRun?: FakeAnswer[];
  /** What the journal holds. */
  journal?: string;
}

/** A user's home with a systemd that records what it is told. */
export interface ServiceHome {
  home: string;
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
  const { directory, calls } = fakePrograms(t, {
    systemctl: [
      ...(answers.systemctl ?? []),
      { match: "--user show --property=UnitPath", stdout: `UnitPath=/etc/x ${units} /etc/systemd/user\n` },
      { match: "--user show *", stdout: showUnits(answers) },
    ],
    "systemd-run": answers.systemdRun ?? [],
    loginctl: answers.linger === undefined ? [] : [{ match: "*", stdout: `Linger=${answers.linger}\n` }],
    journalctl: [{ match: "*", stdout: answers.journal ?? "" }],
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

function runProgram(words: string[], env: Record<string, string>): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
