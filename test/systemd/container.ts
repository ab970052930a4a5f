import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CommandResult } from "../helpers/daemon/daemon.ts";
import { listProcesses } from "../helpers/process/processes.ts";
import { runInside } from "../helpers/process/run-inside.ts";
import { USER } from "./user.ts";

const BOOT_LIMIT_MS = 90_000;

const ENVIRONMENT = ["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8"];
/** What a login gives its programs. */
const SESSION = [
  `HOME=${USER.home}`,
  `USER=${USER.name}`,
  `XDG_RUNTIME_DIR=${USER.runtime}`,
  `DBUS_SESSION_BUS_ADDRESS=unix:path=${USER.runtime}/bus`,
];

/** The booted systemd, from outside: processes, files and network of its own user are ours to look at. */
export class Container {
  readonly #nspawn: number;

  /** @param nspawn pid of systemd-nspawn */
  constructor(nspawn: number) {
    this.#nspawn = nspawn;
  }

  /** Runs a program to its end, as the user that owns the service, in the surroundings of a login. */
  user(...argv: string[]): Promise<CommandResult> {
    return this.as(USER.uid, ...argv);
  }

  /** Runs a program to its end as the container's root. */
  root(...argv: string[]): Promise<CommandResult> {
    return this.#run(["env", "-i", ...ENVIRONMENT, ...argv]);
  }

  /** Runs a program to its end as any user; one of another uid has the same surroundings, and must not get far with them. */
  as(uid: number, ...argv: string[]): Promise<CommandResult> {
    const identity = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
    return this.#run(["setpriv", ...identity, "env", "-i", ...ENVIRONMENT, ...SESSION, ...argv]);
  }

  /** Writes a file that everybody may read, or only its owner when that is not root; with the directories that it needs. */
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

  /** Where a file of the container is for us; not to be kept over a reboot. */
  path(inside: string): string {
    return `/proc/${this.#leader()}/root${inside}`;
  }

  /** Resolves once system and user manager have nothing left to start; false when they do not come up in time. */
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
    return runInside(leader, argv);
  }

  /** Its first process; another one after a reboot. */
  #leader(): number | null {
    return listProcesses().find(({ parent }) => parent === this.#nspawn)?.pid ?? null;
  }
}
