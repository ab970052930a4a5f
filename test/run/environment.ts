import { accessSync, chmodSync, constants, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { PROGRAMS } from "./programs.ts";

/**
 * What the tests may see of the caller's environment. Everything else stays outside: the home directory, the session bus
 * and its keyring, proxies, keys, options for Node, and all programs but {@link VISIBLE}.
 */
const PASSED_VARIABLES = ["TERM", "CI"];

/**
 * The programs of the caller that the tests may find on PATH. An AI tool is none of them: a person has some that others do not have, and
 * tollkeeper looks for them. A test that needs one puts it on PATH itself.
 */
const VISIBLE = new Set([
  ...PROGRAMS.map(({ program }) => program),
  ..."bash dash fish sh zsh".split(" "),
  ...(
    "awk basename cat chgrp chmod chown cmp cp cut date dd df diff dirname echo egrep env expr false find getconf grep " +
    "gzip head hostname id install ln ls mkdir mkfifo mktemp mv od paste printf ps pwd readlink realpath rm rmdir sed seq " +
    "sleep sort stat stty tail tar tee test timeout touch tr true tty umask uname uniq wc which whoami xargs yes"
  ).split(" "),
  ..."envsubst fuse-overlayfs getent gettext git go ldd lsof npm npx perl python3 ssh ssh-keygen".split(" "),
  ..."capsh chattr lsattr chroot flock kill losetup mkfs.ext4 mount nsenter prlimit setfacl setpriv setsid taskset umount unshare".split(
    " ",
  ),
  ..."journalctl loginctl systemctl systemd-analyze systemd-notify systemd-run xkbcomp".split(" "),
  ..."defaults dscl launchctl osascript plutil security sw_vers sysctl xcrun".split(" "),
]);

/** Users may lack the directories of servers. */
const SERVERS = ["/usr/sbin", "/sbin"];

/**
 * Returns the environment of a test run, with a home directory, a directory for temporary files and a PATH of its own below
 * `scratch`. Other users can pass through it, because some tests run programs as another user.
 */
export function testEnvironment(scratch: string): Record<string, string> {
  const [home, temporary, bin] = ["home", "t", "bin"].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  rmSync(bin, { recursive: true, force: true });
  for (const directory of [home, temporary, bin]) mkdirSync(directory, { recursive: true });
  chmodSync(scratch, 0o711);
  // As /tmp.
  chmodSync(temporary, 0o1777);
  linkPrograms(bin);
  const env: Record<string, string> = { PATH: bin, HOME: home, TMPDIR: temporary, LANG: "C.UTF-8" };
  for (const name of PASSED_VARIABLES) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

function linkPrograms(bin: string): void {
  const directories = [...(process.env["PATH"] ?? "").split(delimiter), ...SERVERS];
  symlinkSync(process.execPath, join(bin, "node"));
  for (const name of VISIBLE) {
    const path = directories.map((directory) => join(directory, name)).find(isExecutable);
    if (path !== undefined) symlinkSync(path, join(bin, name));
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
