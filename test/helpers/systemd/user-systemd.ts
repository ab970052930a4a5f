import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createControlGroup, noControlGroup } from "../process/control-group.ts";
import type { CommandResult } from "../daemon/daemon.ts";
import { listProcesses } from "../process/processes.ts";
import { PROGRAM } from "../daemon/program.ts";
import { runInside } from "../process/run-inside.ts";

const SYSTEMD = "/lib/systemd/systemd";
const HOME = "/run/home";
const RUNTIME = "/run/user/0";
const BUS = `unix:path=${RUNTIME}/bus`;
const ENVIRONMENT = [
  `PATH=${process.env["PATH"]}`,
  `HOME=${HOME}`,
  `XDG_RUNTIME_DIR=${RUNTIME}`,
  `DBUS_SESSION_BUS_ADDRESS=${BUS}`,
];

/** Everything of it is below a /run of its own and ends with its processes, which end with us. */
const NAMESPACES =
  "setpriv --pdeathsig=KILL unshare --mount --pid --fork --kill-child --mount-proc env -i".split(" ");

/** What the first systemd of a machine has made when a user's begins (sd_booted(3)), and a bus to be asked over. */
const SCRIPT = `
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir -p /run/systemd/system /run/systemd/unit-root /run/systemd/inaccessible/dir ${HOME} ${RUNTIME}
  touch /run/systemd/inaccessible/reg
  chmod 700 ${HOME} ${RUNTIME}
  dbus-daemon --session --address=${BUS} --fork --nopidfile
  ${SYSTEMD} --user
`;

/** Why no systemd can be run here, for `test(..., { skip })`; false when one can. */
export const noUserSystemd: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  if (process.platform !== "linux") return "needs Linux: these tests run a systemd of their own";
  if (process.getuid?.() !== 0) return "needs root, to run a systemd of its own";
  if (readFileSync("/proc/1/comm", "utf8") === "systemd\n")
    return "systemd manages this machine's control groups; npm run test:systemd tries the same in a container";
  if (noControlGroup() !== false) return noControlGroup();
  if (!existsSync(SYSTEMD)) return "not installed: systemd (apt-get install systemd)";
  const [file, ...words] = [...NAMESPACES, "sh", "-ec", "mount -t tmpfs tmpfs /run; dbus-daemon --version"];
  if (spawnSync(file, words).status !== 0)
    return "no namespaces may be made here, or not installed: dbus-daemon (apt-get install dbus-daemon)";
  return false;
}

/** A `systemd --user` of the test's own, with a home in which nothing is. */
export interface UserSystemd {
  home: string;
  /** Runs a program to its end in there. */
  run(...argv: string[]): Promise<CommandResult>;
  /** Runs `tollkeeper` in there. */
  tollkeeper(...args: string[]): Promise<CommandResult>;
  /** Where a file of its own, below /run, is for us. */
  path(inside: string): string;
  write(inside: string, text: string): void;
}

/** Runs one until the test ends (facts/platform.md 2.1, way B); without a journal. */
export async function startUserSystemd(t: TestContext): Promise<UserSystemd> {
  const group = createControlGroup(`tollkeeper-test-${process.pid}`);
  const [file, ...words] = [...group.enter, ...NAMESPACES, ...ENVIRONMENT, "sh", "-ec", SCRIPT];
  const manager = spawn(file, words, { stdio: "ignore" });
  const ended = once(manager, "exit");
  t.after(async () => {
    manager.kill("SIGKILL");
    await ended;
    await group.remove();
  });
  const inside = await firstInside(manager.pid ?? 0);
  const run = (...argv: string[]) => runInside(inside, ["env", "-i", ...ENVIRONMENT, ...argv]);
  const path = (place: string) => `/proc/${inside}/root${place}`;
  while ((await run("systemctl", "--user", "is-system-running", "--wait")).stdout !== "running\n")
    await delay(20);
  return {
    home: HOME,
    run,
    tollkeeper: (...args) => run(process.execPath, PROGRAM, ...args),
    path,
    write(place, text) {
      mkdirSync(dirname(path(place)), { recursive: true });
      writeFileSync(path(place), text);
    },
  };
}

/** The first process of the namespaces that `unshare` makes, once it is there. */
async function firstInside(unshare: number): Promise<number> {
  for (;;) {
    const child = listProcesses().find(({ parent }) => parent === unshare);
    if (child !== undefined) return child.pid;
    await delay(5);
  }
}
