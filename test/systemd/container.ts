import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CommandResult } from "../helpers/daemon/daemon.ts";
import { listProcesses } from "../helpers/process/processes.ts";
import { runInNamespaces } from "../helpers/process/run-in-namespaces.ts";
import { SERVICE_USER } from "./service-user.ts";

const BOOT_LIMIT_MS = 90_000;

const ENVIRONMENT = ["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8"];
/** Variables of a login session. */
const SESSION = [
  `HOME=${SERVICE_USER.home}`,
  `USER=${SERVICE_USER.name}`,
  `XDG_RUNTIME_DIR=${SERVICE_USER.runtime}`,
  `DBUS_SESSION_BUS_ADDRESS=unix:path=${SERVICE_USER.runtime}/bus`,
];

/** The booted container as seen from outside, where its processes and files are accessible. */
export class Container {
  readonly #nspawn: number;

  /** @param nspawn pid of systemd-nspawn */
  constructor(nspawn: number) {
    this.#nspawn = nspawn;
  }

  /** Runs a program as the user of the service, with the variables of a login, and waits for it to exit. */
  user(...argv: string[]): Promise<CommandResult> {
    return this.as(SERVICE_USER.uid, ...argv);
  }

  /** Runs a program as the container's root, and waits for it to exit. */
  root(...argv: string[]): Promise<CommandResult> {
    return this.#run(["env", "-i", ...ENVIRONMENT, ...argv]);
  }

  /** Runs a program under any uid with the variables of the service's user, and waits for it to exit. */
  as(uid: number, ...argv: string[]): Promise<CommandResult> {
    const identity = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
    return this.#run(["setpriv", ...identity, "env", "-i", ...ENVIRONMENT, ...SESSION, ...argv]);
  }

  /** Writes a file with its directories. A file of root is readable to all, any other only to its owner. */
  write(inside: string, text: string, owner = 0): void {
    const path = this.path(inside);
    const made = mkdirSync(dirname(path), { recursive: true });
    if (made !== undefined) execFileSync("chown", ["-R", `${owner}:${owner}`, made]);
    writeFileSync(path, text, { mode: owner === 0 ? 0o644 : 0o600 });
    chownSync(path, owner, owner);
  }

  read(inside: string): string {
    return readFileSync(this.path(inside), "utf8");
  }

  /** Returns the path of a container's file as seen from outside. Invalid after a reboot. */
  path(inside: string): string {
    return `/proc/${this.#leader()}/root${inside}`;
  }

  /** Resolves to true once system and user manager have started everything, to false when that takes too long. */
  async isUp(): Promise<boolean> {
    const deadline = Date.now() + BOOT_LIMIT_MS;
    while (Date.now() < deadline) {
      const system = await this.root("systemctl", "is-system-running", "--wait");
      const user = await this.user("systemctl", "--user", "is-system-running", "--wait");
      if ([system, user].every(({ stdout }) => /^(?:running|degraded)$/m.test(stdout))) return true;
      await delay(50);
    }
    return false;
  }

  #run(argv: string[]): Promise<CommandResult> {
    const leader = this.#leader();
    if (leader === null)
      return Promise.resolve({ code: null, stdout: "", stderr: "the container does not run" });
    return runInNamespaces(leader, argv);
  }

  /** Returns the pid of the container's init, which changes at a reboot. */
  #leader(): number | null {
    return listProcesses().find(({ parent }) => parent === this.#nspawn)?.pid ?? null;
  }
}
