import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { managedMachine, noManagedConfig, type ManagedMachine } from "../config/managed-config.ts";
import { asUser, noDaemonAs } from "./other-user.ts";

/** The group `devs`, which mallory is in. */
export const DEVS = 54_320;
const MALLORY = 54_321;

/** A user with a group of her own name, as useradd(8) gives one to each. */
export const ALICE = 54_330;

/** Why no machine with these users can be set up here, for `test(..., { skip })`; false when one can. */
export const noSharedGroup: string | false = noDaemonAs(ALICE) || noManagedConfig;

/** A machine with a copy of `/etc` that has the users alice and mallory, and the group `devs`. */
export interface SharedMachine extends ManagedMachine {
  /** A launcher for `startDaemon` that runs the daemon as alice. */
  asAlice: string[];
  /** Replaces the lines of a name in `/etc/passwd` or `/etc/group` by this one, or by none. */
  setAccount(file: "passwd" | "group", name: string, line?: string): void;
}

export function sharedMachine(t: TestContext): SharedMachine {
  const machine = managedMachine(t);
  const etc = dirname(machine.directory);
  const setAccount: SharedMachine["setAccount"] = (file, name, line) => {
    const path = join(etc, file);
    const kept = readFileSync(path, "utf8")
      .split("\n")
      .filter((one) => !one.startsWith(`${name}:`));
    writeFileSync(path, [...(line === undefined ? [] : [line]), ...kept].join("\n"));
  };
  setAccount("passwd", "mallory", `mallory:x:${MALLORY}:${MALLORY}::/nonexistent:/bin/sh`);
  setAccount("passwd", "alice", `alice:x:${ALICE}:${ALICE}::/nonexistent:/bin/sh`);
  setAccount("group", "mallory", `mallory:x:${MALLORY}:`);
  setAccount("group", "alice", `alice:x:${ALICE}:`);
  setAccount("group", "devs", `devs:x:${DEVS}:mallory`);
  return { ...machine, asAlice: [...machine.launcher, ...asUser(ALICE)], setAccount };
}

/** Runs a shell script as mallory. Throws when it fails. */
export function asMallory(script: string, ...args: string[]): string {
  const identity = [`--reuid=${MALLORY}`, `--regid=${MALLORY}`, `--groups=${DEVS}`];
  return execFileSync("setpriv", [...identity, "sh", "-c", script, "sh", ...args], {
    encoding: "utf8",
    cwd: "/",
  });
}

/** An access control list (acl(5)) by which the owner and mallory may write, the group may read, and others nothing. */
const ACCESS_LIST = `
import os, struct, sys
def entry(tag, permissions, who=0xffffffff): return struct.pack("<HHI", tag, permissions, who)
entries = entry(1, 6) + entry(2, 6, ${MALLORY}) + entry(4, 4) + entry(16, 6) + entry(32, 0)
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + entries)
`;

/** Lets mallory write to a file by an access control list. Returns false where that is impossible. */
export function letMalloryWrite(path: string): boolean {
  try {
    execFileSync("python3", ["-c", ACCESS_LIST, path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
