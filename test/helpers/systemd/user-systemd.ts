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
import { runInNamespaces } from "../process/run-in-namespaces.ts";

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

/** Namespaces with a private /run. They end with their processes, which end with this one. */
const NAMESPACES =
  "setpriv --pdeathsig=KILL unshare --mount --pid --fork --kill-child --mount-proc env -i".split(" ");

/** Creates what a user's systemd expects from the system's one (sd_booted(3)), starts a bus, and runs it. */
const SCRIPT = `
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir -p /run/systemd/system /run/systemd/unit-root /run/systemd/inaccessible/dir ${HOME} ${RUNTIME}
  touch /run/systemd/inaccessible/reg
  chmod 700 ${HOME} ${RUNTIME}
  dbus-daemon --session --address=${BUS} --fork --nopidfile
  ${SYSTEMD} --user
`;

/** Why no `systemd --user` can run here, for `test(..., { skip })`; false when it can. */
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

/** A private `systemd --user` with an empty home directory. */
export interface UserSystemd {
  home: string;
  /** Runs a program in its namespaces and waits for it to exit. */
  run(...argv: string[]): Promise<CommandResult>;
  /** Runs `tollkeeper` in its namespaces. */
  tollkeeper(...args: string[]): Promise<CommandResult>;
  /** Returns the path of one of its files below /run, as seen from outside. */
  path(inside: string): string;
  write(inside: string, text: string): void;
}

/** Starts one for the duration of the test, without a journal (docs/platform.md section 2). */
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
  const leader = await waitForLeader(manager.pid ?? 0);
  const run = (...argv: string[]) => runInNamespaces(leader, ["env", "-i", ...ENVIRONMENT, ...argv]);
  const path = (inside: string) => `/proc/${leader}/root${inside}`;
  while ((await run("systemctl", "--user", "is-system-running", "--wait")).stdout !== "running\n")
    await delay(20);
  return {
    home: HOME,
    run,
    tollkeeper: (...args) => run(process.execPath, PROGRAM, ...args),
    path,
    write(inside, text) {
      mkdirSync(dirname(path(inside)), { recursive: true });
      writeFileSync(path(inside), text);
    },
  };
}

/** Waits for the first process in the namespaces that `unshare` creates, and returns its pid. */
async function waitForLeader(unshare: number): Promise<number> {
  for (;;) {
    const child = listProcesses().find(({ parent }) => parent === unshare);
    if (child !== undefined) return child.pid;
    await delay(5);
  }
}
